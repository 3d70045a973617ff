#!/usr/bin/env bash
# The checks of run.sh, beside the systemd in the copy of the machine.
set -euo pipefail

packages=/opt/packages
export DEBIAN_FRONTEND=noninteractive

fail() { echo "FAIL $*" >&2; exit 1; }
pass() { echo "ok   $*"; }
# same WHAT GOT WANTED
same() { [ "$2" = "$3" ] || fail "$1: got '$2', want '$3'"; pass "$1: $3"; }
gone() { for path in "$@"; do [ ! -e "$path" ] && [ ! -L "$path" ] || fail "$path is still there"; done; pass "gone: $*"; }
# quietly COMMAND... shows what it says only if it fails.
quietly() { "$@" >/tmp/said 2>&1 || { cat /tmp/said >&2; fail "$*"; }; }

unit=/usr/lib/systemd/system/rdmawatch.service
config=/etc/default/rdmawatch
edited='RDMAWATCH_ARGS="--log.format=json"'
enabled() { systemctl is-enabled rdmawatch.service 2>/dev/null || true; }
active() { systemctl is-active rdmawatch.service || true; }
process() { systemctl show --property=MainPID --value rdmawatch.service; }

# serves looks at the service as it runs.
serves() {
	[ "$(active)" = active ] || systemctl status --no-pager --full rdmawatch.service >&2 || true
	same "service" "$(active)" active
	# Refused until it listens, 503 until the first round is done.
	quietly curl -sf --retry 60 --retry-connrefused --retry-delay 1 --retry-max-time 60 localhost:10055/-/ready
	curl -sf localhost:10055/metrics | grep -q '_build_info{' || fail "the page has no build_info"
	pass "listens on port 10055"
	same "user of the process" "$(stat -c %U "/proc/$(process)")" rdmawatch
	same "its capabilities" "$(awk '/^Cap/ { print $2 }' "/proc/$(process)/status" | sort -u)" 0000000000000000
}

echo "== .deb, new"
getent passwd rdmawatch >/dev/null && fail "this machine has a user rdmawatch already"
quietly dpkg -i "$packages"/old/*.deb
same "version" "$(dpkg-query -f '${Version}' -W rdmawatch)" 1.0.0~rc.1-1
same "config files" "$(dpkg-query -f '${Conffiles}' -W rdmawatch | awk 'NF { print $1 }')" "$config"
same "what differs from the package" "$(dpkg --verify rdmawatch)" ""
same "home and shell of the user" "$(getent passwd rdmawatch | cut -d: -f6,7)" /nonexistent:/usr/sbin/nologin
same "group" "$(id -gn rdmawatch)" rdmawatch
[ "$(id -u rdmawatch)" -lt 1000 ] || fail "the user is no system user"
same "unit" "$(enabled)" enabled
quietly systemd-analyze verify "$unit"
same "what systemd-analyze verify says of it" "$(grep rdmawatch /tmp/said || true)" ""
serves

echo "== .deb, upgrade"
echo "$edited" >"$config"
old=$(process)
quietly dpkg -i --force-confdef --force-confold "$packages"/new/*.deb
same "version" "$(dpkg-query -f '${Version}' -W rdmawatch)" 1.0.0-1
same "edited config" "$(cat "$config")" "$edited"
[ "$(process)" != "$old" ] || fail "the old process still runs"
serves
same "last flag of the process" "$(tr '\0' '\n' <"/proc/$(process)/cmdline" | tail -n 1)" --log.format=json
same "owner and mode of the state" "$(stat -c %U:%a /var/lib/rdmawatch/state.json)" rdmawatch:600

echo "== .deb, upgrade of what was switched off"
quietly systemctl disable --now rdmawatch.service
quietly dpkg -i --force-confdef --force-confold "$packages"/new/*.deb
same "unit" "$(enabled)" disabled
same "service" "$(active)" inactive
quietly systemctl enable --now rdmawatch.service

echo "== .deb, remove"
quietly dpkg -r rdmawatch
gone /usr/bin/rdmawatch "$unit" /usr/lib/sysusers.d/rdmawatch.conf /usr/share/doc/rdmawatch
same "service" "$(active)" inactive
same "config after remove" "$(cat "$config")" "$edited"
[ -s /var/lib/private/rdmawatch/state.json ] || fail "the state went with the package"

echo "== .deb, purge"
quietly dpkg -P rdmawatch
same "traces in /etc and /var/lib" "$(find /etc /var/lib -xdev -name '*rdmawatch*')" ""
getent passwd rdmawatch >/dev/null && fail "the user is still there"

echo "== .rpm, new"
old=$(echo "$packages"/old/*.rpm) new=$(echo "$packages"/new/*.rpm)
same "config files" "$(rpm -qpc "$old")" "$config"
same "their flags (c config, n noreplace)" "$(rpm -qp --qf '[%{FILENAMES} %{FILEFLAGS:fflags}\n]' "$old" | awk 'NF > 1')" "$config cn"
same "scripts" "$(rpm -qp --scripts "$old" | grep -c scriptlet)" 3
same "build host" "$(rpm -qp --qf '%{BUILDHOST}' "$old")" localhost
# rpm's own list is empty on a Debian, hence --nodeps.
quietly rpm --initdb
quietly rpm -i --nodeps "$old"
same "user" "$(id -un rdmawatch)" rdmawatch
same "what differs from the package" "$(rpm -V --nodeps rdmawatch)" ""
same "service, not started unasked" "$(active)" inactive
quietly systemctl enable --now rdmawatch.service
serves

echo "== .rpm, upgrade"
echo "$edited" >"$config"
before=$(process)
quietly rpm -U --nodeps "$new"
same "edited config" "$(cat "$config")" "$edited"
[ -e "$config.rpmnew" ] || fail "the new default is not beside the edited config"
[ "$(process)" != "$before" ] || fail "the old process still runs"
serves

echo "== .rpm, remove"
quietly rpm -e --nodeps rdmawatch
gone /usr/bin/rdmawatch "$unit"
same "service" "$(active)" inactive
same "edited config after removal" "$(cat "$config.rpmsave")" "$edited"
echo "packages: all checks passed"
