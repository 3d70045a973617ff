# Everything that is done with this repository. Go is all that build, run,
# demo, test, golden, fuzz, bench and cover need; lint fetches its linter and
# packages its packager and test-helm Helm as Go modules, test-browser needs
# Chromium, test-vm QEMU (see test/vm), test-packages a Debian, root and rpm, and
# stack and e2e Prometheus and Alertmanager.

BINARY  := build/rdmawatch
# A number of inputs, not a time: Go 1.26 may report a fuzz run that ends by the
# clock as failed (golang/go#75804).
FUZZTIME ?= 100000x
# Where an input costs much: a whole archive, or all rules.
FUZZTIME_ARCHIVE ?= 20000x
# Where a node is read for each input.
FUZZTIME_NODE ?= 1500x
# Percent of collector/... that its own tests must run. Go counts statements,
# of which well formatted code has one to the line.
COVER_FLOOR ?= 85

GO ?= go
# The version is read from git where there is a checkout of it. The date is the
# commit's and no user is named, so that a commit always gives the same binary.
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
REVISION ?= $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
BRANCH   ?= $(shell git rev-parse --abbrev-ref HEAD 2>/dev/null || echo unknown)
DATE     ?= $(shell git log -1 --format=%cI 2>/dev/null)

V := github.com/prometheus/common/version
# -funcalign: functions begin at every 16 bytes, as on arm64, instead of every
# 32; 0.2 MB of padding less.
LDFLAGS = -s -w -funcalign=16 -X $(V).Version=$(VERSION) -X $(V).Revision=$(REVISION) \
	-X $(V).Branch=$(BRANCH) -X $(V).BuildDate=$(DATE)

# Without net/http's HTTP/2, which nothing here needs: the server offers HTTP/1.1
# alone, and every Alertmanager speaks it.
TAGS = nethttpomithttp2

# The race detector needs cgo: a C compiler with the headers of a C library. With
# it, replaying hours of every scenario takes minutes where Go allows ten.
RACE = $(shell printf '\043include <pthread.h>\n' | \
	$$($(GO) env CC) -E -x c - >/dev/null 2>&1 && echo -race)

.DEFAULT_GOAL := help

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## the static binary, build/rdmawatch
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -tags $(TAGS) -ldflags '$(LDFLAGS)' -o $(BINARY) ./cmd/rdmawatch

.PHONY: run
run: ## serve this machine's NICs on :10055 (ARGS='--log.level=debug')
	$(GO) run -buildvcs=false ./cmd/rdmawatch serve $(ARGS)

.PHONY: demo
demo: ## a simulated node with faults on :10055, no NIC needed (ARGS='--help')
	$(GO) run -buildvcs=false ./cmd/rdmawatch demo $(ARGS)

.PHONY: test
test: ## all tests that need nothing but Go
	@[ -n '$(RACE)' ] || echo 'No C compiler with headers: without the race detector.'
	$(GO) test $(RACE) -shuffle=on -timeout 20m $$($(GO) list ./... | grep -v -e '/alerts$$' -e '/dashboards$$' -e '/test/faults$$')
# The scenarios play days of virtual time: without the race detector, which the
# packages that they run have in their own tests.
	$(GO) test -shuffle=on -timeout 60m ./alerts ./dashboards

.PHONY: cover
cover: ## how much of collector/... its tests run, with a floor (COVER_FLOOR=85)
	@mkdir -p build
	$(GO) test -coverprofile=build/cover.out -coverpkg=./collector/... ./collector/...
	@$(GO) tool cover -func=build/cover.out | awk -v floor=$(COVER_FLOOR) '\
		/^total:/ { got = $$NF + 0 } \
		END { printf "coverage of collector/...: %s%%, floor %s%%\n", got, floor; exit got < floor }'

.PHONY: fuzz
fuzz: ## every fuzz target in turn (FUZZTIME=100000x each)
	@set -e; packages=$$($(GO) list ./...); for pkg in $$packages; do \
		listed=$$($(GO) test -list '^Fuzz' $$pkg); \
		for target in $$(echo "$$listed" | sed -n '/^Fuzz/p'); do \
			count=$(FUZZTIME); case $$pkg/$$target in */capture/*|*/FuzzParseSettings|*/engine/FuzzRestore) count=$(FUZZTIME_ARCHIVE);; \
				*/collector/FuzzRestore) count=$(FUZZTIME_NODE);; esac; \
			echo "== $$target in $$pkg, $$count"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $$count -fuzzminimizetime 100x $$pkg; \
		done; \
	done

# What a scrape is compared with.
NODE_EXPORTER := github.com/prometheus/node_exporter@v1.12.1

.PHONY: bench
bench: build ## benchmarks, and what a scrape costs beside node_exporter's (BENCHMARKS.md)
	$(GO) test -run '^$$' -bench . -benchmem ./...
	GOBIN=$(CURDIR)/build $(GO) install $(NODE_EXPORTER)
	$(GO) run ./test/bench

.PHONY: golden
golden: ## write the generated files anew; read the difference before you commit it
	$(GO) test -run Golden $$(grep -rl --include='*_test.go' --exclude-dir=test 'flag\.Bool("update"' . | xargs -r -n 1 dirname | sort -u) -update
# The Helm chart holds copies of what was written just now.
	$(GO) test -run Golden ./deploy -update

.PHONY: lint
lint: ## golangci-lint with .golangci.yml, of the version in tools/go.mod
	$(GO) tool -modfile=tools/go.mod golangci-lint run ./...

.PHONY: test-browser
test-browser: build ## the pages in headless Chromium, with pictures in build/screenshots
	cd test/browser && $(GO) test -count=1 -shuffle=on ./...

.PHONY: test-faults
test-faults: ## the binary while files hang, clients misbehave, disks are full (as root: all of it)
	cd test/faults && $(GO) test -count=1 -shuffle=on -v .

.PHONY: vulncheck
vulncheck: ## known vulnerabilities that the binary can reach (needs vuln.go.dev)
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.1.4 -tags $(TAGS) ./cmd/rdmawatch

.PHONY: test-vm
test-vm: ## the binary against a real kernel with soft-RoCE, in QEMU
	test/vm/run.sh

# git's version, so that dpkg and rpm order it: v1.2.0-rc.1 is 1.2.0~rc.1 and before
# 1.2.0, five commits after v1.2.0 is 1.2.0+5.g1a2b3c4, and what has no tag is
# 0.0.0+1a2b3c4.
PACKAGE_VERSION ?= $(shell echo '$(VERSION)' | sed -E \
	-e '/^v?[0-9]+\.[0-9]/!s/^/0.0.0+/' -e 's/^v//' \
	-e 's/-dirty$$/+dirty/' -e 's/-([0-9]+)-g([0-9a-f]+)/+\1.g\2/' -e 's/-/~/g')
PACKAGE_DIR ?= build
NFPM_YAML ?= deploy/packages/nfpm.yaml

.PHONY: packages
packages: build ## .deb and .rpm of the binary (GOARCH=arm64 for another machine)
	@set -e; for format in deb rpm; do \
		PACKAGE_ARCH=$$($(GO) env GOARCH) PACKAGE_VERSION='$(PACKAGE_VERSION)' \
		SOURCE_DATE_EPOCH=$$(date -d '$(or $(DATE),@0)' +%s) \
		env -u GOOS -u GOARCH $(GO) tool -modfile=tools/nfpm/go.mod nfpm package -f $(NFPM_YAML) -p $$format -t $(PACKAGE_DIR)/; \
	done

.PHONY: package-version
package-version:
	@echo '$(PACKAGE_VERSION)'

.PHONY: test-packages
test-packages: build ## installs, upgrades and removes the packages, in a copy of this machine
	test/packages/run.sh

build/helm: tools/helm/go.mod
	cd tools/helm && $(GO) build -o ../../build/helm helm.sh/helm/v3/cmd/helm

.PHONY: test-helm
test-helm: build/helm ## the Helm chart against Kubernetes and the Prometheus operator (UPDATE=1: goldens)
	cd test/helm && $(GO) test -count=1 ./... $(if $(UPDATE),-update)

.PHONY: stack
stack: build ## the demo with Prometheus and Alertmanager, without containers (see deploy/stack)
	deploy/stack/run $(ARGS)

.PHONY: e2e
e2e: build ## real Prometheus and Alertmanager with rdmawatch (see test/e2e)
	cd test/e2e && $(GO) test -count=1 -shuffle=on -parallel 4 ./...

.PHONY: fleet-bench
fleet-bench: build ## what a fleet costs a Prometheus (ARGS='--nodes=1000'; see test/fleet)
	cd test/fleet && $(GO) run . $(ARGS)
