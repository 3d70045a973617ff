# The exporter alone: no shell, no libraries, no root.
#
#   docker build -t rdmawatch --build-arg VERSION=$(git describe --tags --always) .
#   docker run --rm --network host --read-only --cap-drop ALL rdmawatch
#
# What it must be given for which collector: deploy/docker/README.md.
# --network host, because ethtool and the list of network interfaces belong to
# a network namespace; the container's own has none of the node's NICs.

# The builder runs on the machine that builds and compiles for the one that was
# asked for (--platform linux/arm64).
FROM --platform=$BUILDPLATFORM golang:1.26.8-bookworm AS build
WORKDIR /src

# The modules first: they change seldom, so that their layer is kept.
COPY go.mod go.sum ./
RUN go mod download

COPY . .
# .git is not sent to the builder; what it would tell comes as arguments.
ARG VERSION=unknown
ARG REVISION=unknown
ARG BRANCH=unknown
ARG DATE=
ARG TARGETOS
ARG TARGETARCH
RUN GOOS=$TARGETOS GOARCH=$TARGETARCH make build \
    VERSION="$VERSION" REVISION="$REVISION" BRANCH="$BRANCH" DATE="$DATE"

FROM scratch
COPY --from=build /src/build/rdmawatch /rdmawatch
COPY --from=build /src/LICENSE /LICENSE
# By number: there is no /etc/passwd that could name it.
USER 65534:65534
EXPOSE 10055
ENTRYPOINT ["/rdmawatch"]
CMD ["serve"]
