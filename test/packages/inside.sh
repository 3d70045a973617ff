#!/usr/bin/env bash
# The checks of run.sh, inside the copy of the machine.
set -euo pipefail

packages=/tmp/packages
export DEBIAN_FRONTEND=noninteractive

fail() { echo "FAIL $*" >&2; exit 1; }
pass() { echo "ok   $*"; }
# same WHAT GOT WANTED
same() { [ "$2" = "$3" ] || fail "$1: got '$2', want '$3'"; pass "$1"; }
gone() { for path in "$@"; do [ ! -e "$path" ] && [ ! -L "$path" ] || fail "$path is still there"; done; pass "gone: $*"; }

config=/etc/default/rdmawatch
unit=/usr/lib/systemd/system/rdmawatch.service
edited='RDMAWATCH_ARGS="--log.format=json"'

# systemd does not run here. Its stand-in writes down what it is asked for, has
# the real one make the links of enabled units, and calls every unit active.
journal=/tmp/systemctl.log
rm -f /usr/sbin/policy-rc.d
pretend_systemd() {
	mkdir -p /run/systemd/system
	mv /usr/bin/systemctl /usr/bin/systemctl.real 2>/dev/null || true
	cat >/usr/bin/systemctl <<-'END'
		#!/bin/sh
		echo "$*" >>/tmp/systemctl.log
		case "$*" in
		*preset* | *enable* | *disable*) SYSTEMD_OFFLINE=1 exec /usr/bin/systemctl.real "$@" ;;
		esac
	END
	chmod 755 /usr/bin/systemctl
}
# asked TEXT: systemd was asked for this since the last time.
asked() {
	grep -q -e "$1" "$journal" || { cat "$journal" >&2; fail "systemd was not asked to $1"; }
	pass "systemd was asked to $1"
}

# serve_by_hand starts what the unit starts, as its user and without a
# capability, with the flags of the config file.
serve_by_hand() {
	local command
	command=$(sed -n 's/^ExecStart=//p' "$unit")
	install -d -m 700 -o rdmawatch -g rdmawatch /var/lib/rdmawatch
	export STATE_DIRECTORY=/var/lib/rdmawatch
	# shellcheck disable=SC1090
	. "$config"
	# The unit's variables are split at blanks, as systemd does.
	eval "set -- $command"
	setpriv --reuid rdmawatch --regid rdmawatch --clear-groups --no-new-privs \
		--bounding-set=-all --inh-caps=-all "$@" 2>/tmp/serve.log &
	serving=$!
	# Refused until it listens, 503 until the first round is done.
	curl -sf --retry 60 --retry-connrefused --retry-delay 1 --retry-max-time 60 localhost:10055/-/ready >/dev/null ||
		{ cat /tmp/serve.log >&2; fail "nothing is ready on port 10055"; }
	curl -sf localhost:10055/metrics | grep -q '_build_info{' || fail "the page has no build_info"
	same "user of the process" "$(stat -c %U "/proc/$serving")" rdmawatch
	same "capabilities of the process" "$(awk '/^Cap(Prm|Eff|Bnd|Amb)/ { print $2 }' "/proc/$serving/status" | sort -u)" 0000000000000000
	kill "$serving" && wait "$serving" || fail "it ends with status $?"
	[ -s /var/lib/rdmawatch/state.json ] || fail "no state was written"
	same "owner of the state" "$(stat -c %U:%a /var/lib/rdmawatch/state.json)" rdmawatch:600
	pass "the unit's command listens on port 10055"
}

echo "== .deb, new"
getent passwd rdmawatch >/dev/null && fail "this machine has a user rdmawatch already"
pretend_systemd
dpkg -i "$packages"/old/*.deb >/tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log >&2; fail "dpkg -i"; }
same "version" "$(dpkg-query -f '${Version}' -W rdmawatch)" 1.0.0~rc.1-1
same "what dpkg asks about before it replaces it" "$(dpkg-query -f '${Conffiles}' -W rdmawatch | awk 'NF { print $1 }')" "$config"
same "nothing differs from the package" "$(dpkg --verify rdmawatch)" ""
same "user" "$(getent passwd rdmawatch | cut -d: -f6,7)" /nonexistent:/usr/sbin/nologin
same "group" "$(id -gn rdmawatch)" rdmawatch
[ "$(id -u rdmawatch)" -lt 1000 ] || fail "the user is no system user"
asked "daemon-reload"
asked "start.* rdmawatch.service"
[ -L /etc/systemd/system/multi-user.target.wants/rdmawatch.service ] || fail "the unit is not enabled"
systemd-analyze verify "$unit" 2>/tmp/verify.log || { cat /tmp/verify.log >&2; fail "systemd-analyze verify"; }
same "what systemd-analyze verify says" "$(grep rdmawatch /tmp/verify.log || true)" ""
serve_by_hand

echo "== .deb, upgrade"
echo "$edited" >"$config"
: >"$journal"
dpkg -i --force-confdef --force-confold "$packages"/new/*.deb >/tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log >&2; fail "upgrade"; }
same "version" "$(dpkg-query -f '${Version}' -W rdmawatch)" 1.0.0-1
same "edited config" "$(cat "$config")" "$edited"
asked "restart rdmawatch.service"
serve_by_hand
same "the flags are the administrator's" "$(head -c 1 /tmp/serve.log)" '{'

echo "== .deb, remove"
: >"$journal"
dpkg -r rdmawatch >/tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log >&2; fail "remove"; }
gone /usr/bin/rdmawatch "$unit" /usr/lib/sysusers.d/rdmawatch.conf /usr/share/doc/rdmawatch
asked "stop rdmawatch.service"
same "config after remove" "$(cat "$config")" "$edited"
[ -s /var/lib/rdmawatch/state.json ] || fail "the state went with the package"

echo "== .deb, purge"
dpkg -P rdmawatch >/tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log >&2; fail "purge"; }
gone "$config" /var/lib/rdmawatch /var/lib/private/rdmawatch \
	/etc/systemd/system/multi-user.target.wants/rdmawatch.service
getent passwd rdmawatch >/dev/null && fail "the user is still there"
same "traces in /etc and /var" "$(find /etc /var/lib -xdev -name '*rdmawatch*')" ""

echo "== .rpm"
old=$(echo "$packages"/old/*.rpm) new=$(echo "$packages"/new/*.rpm)
same "config file" "$(rpm -qpc "$old")" "$config"
same "flags of the config file (c config, n noreplace)" \
	"$(rpm -qp --qf '[%{FILENAMES} %{FILEFLAGS:fflags}\n]' "$old" | awk 'NF > 1')" "$config cn"
same "scripts" "$(rpm -qp --scripts "$old" | grep -c scriptlet)" 3
same "build host" "$(rpm -qp --qf '%{BUILDHOST}' "$old")" localhost
# rpm's own list is empty on a Debian, hence --nodeps.
rpm --initdb
: >"$journal"
rpm -i --nodeps "$old"
same "user" "$(id -un rdmawatch)" rdmawatch
asked "preset rdmawatch.service"
same "it is not started unasked" "$(grep -c -e '--now' -e ' start' "$journal" || true)" 0
same "nothing differs from the package" "$(rpm -V --nodeps rdmawatch)" ""
serve_by_hand
echo "$edited" >"$config"
: >"$journal"
rpm -U --nodeps "$new" 2>/tmp/rpm.log
same "edited config" "$(cat "$config")" "$edited"
[ -e "$config.rpmnew" ] || fail "the new default is not beside the edited config"
asked "try-restart rdmawatch.service"
same "an upgrade does not stop it" "$(grep -c disable "$journal" || true)" 0
: >"$journal"
rpm -e --nodeps rdmawatch 2>/tmp/rpm.log
asked "disable --now rdmawatch.service"
gone /usr/bin/rdmawatch "$unit"
same "edited config after removal" "$(cat "$config.rpmsave")" "$edited"
echo "packages: all checks passed"
