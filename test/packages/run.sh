#!/usr/bin/env bash
# Installs, upgrades and removes the .deb and the .rpm on what looks like this
# machine: an overlay over its root in namespaces, with a systemd of its own, which
# is thrown away. Needs root, a Debian with systemd, whether it runs or not, and
# rpm.
set -euo pipefail

cd "$(dirname "$0")/../.."
root=$PWD
lacking=()
[ "$(id -u)" = 0 ] || lacking+=("root, to mount the overlay")
for tool in dpkg dpkg-deb rpm unshare nsenter pgrep ip curl systemctl systemd-analyze systemd-sysusers deb-systemd-helper make "${GO:-go}"; do
	command -v "$tool" >/dev/null || lacking+=("the program $tool")
done
if [ ${#lacking[@]} -gt 0 ]; then
	printf 'test-packages cannot run here. It lacks:\n' >&2
	printf '  %s\n' "${lacking[@]}" >&2
	exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/old" "$work/new" "$work/again"

# What git calls a version, and what the packages do, from old to new.
last=
while read -r git want; do
	got=$(make --no-print-directory -s package-version VERSION="$git")
	[ "$got" = "$want" ] || { echo "FAIL $git became $got, want $want" >&2; exit 1; }
	[ -z "$last" ] || dpkg --compare-versions "$last" lt "$got" ||
		{ echo "FAIL dpkg takes $got for no newer than $last" >&2; exit 1; }
	last=$got
done <<'END'
1a2b3c4 0.0.0+1a2b3c4
abcdef1-dirty 0.0.0+abcdef1+dirty
v1.2.0-rc.1 1.2.0~rc.1
v1.2.0-rc.1-3-gabcdef1 1.2.0~rc.1+3.gabcdef1
v1.2.0 1.2.0
v1.2.0-5-gabcdef1 1.2.0+5.gabcdef1
v1.2.0-5-gabcdef1-dirty 1.2.0+5.gabcdef1+dirty
1.2.1 1.2.1
END
echo "ok   versions in order"

# The next version brings another default for a file that somebody has edited.
sed 's/^RDMAWATCH_ARGS=.*/RDMAWATCH_ARGS="--log.level=warn"/' deploy/packages/default >"$work/default"
sed "s|src: deploy/packages/default|src: $work/default|" deploy/packages/nfpm.yaml >"$work/nfpm.yaml"

build() { make --no-print-directory -s packages PACKAGE_VERSION="$1" PACKAGE_DIR="$2" "${@:3}"; }
build 1.0.0~rc.1 "$work/old"
build 1.0.0~rc.1 "$work/again"
build 1.0.0 "$work/new" NFPM_YAML="$work/nfpm.yaml"
for package in "$work"/old/*; do
	cmp "$package" "$work/again/${package##*/}" ||
		{ echo "FAIL the same commit gives two different packages: ${package##*/}" >&2; exit 1; }
done

cp test/packages/{boot,inside}.sh "$work/"
# A branch of the second cgroup hierarchy for the systemd in there, which takes it
# for the whole.
mkdir "$work/cgroup"
mount -t cgroup2 none "$work/cgroup"
group=$work/cgroup/rdmawatch-packages-$$
mkdir "$group"
booted=
cleanup() {
	if [ -n "$booted" ]; then kill -KILL "$booted" && wait || true; fi
	find "$group" -depth -type d -exec rmdir {} + || true
	umount "$work/cgroup"
	rm -rf "$work"
}
trap cleanup EXIT

# In a network of its own port 10055 is free, whatever runs on this machine.
WORK=$work bash -c 'echo $$ >"$1/cgroup.procs" && exec unshare --cgroup --mount --net --ipc --uts --pid --fork \
	--kill-child bash "$WORK/boot.sh"' boot "$group" >"$work/boot.log" 2>&1 &
outer=$!
# within runs a command beside that systemd.
within() {
	nsenter -t "$booted" -m -n -p -i -u -C -r -w env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}
for ((try = 0; ; try++)); do
	booted=$(pgrep -P "$outer" || true)
	[ -n "$booted" ] && within systemctl show --property=Version >/dev/null 2>&1 && break
	if [ "$try" -ge 150 ] || ! kill -0 "$outer" 2>/dev/null; then
		cat "$work/boot.log" >&2
		echo "FAIL no systemd could be started in namespaces" >&2
		exit 1
	fi
	sleep 0.2
done
within bash /opt/packages/inside.sh || { tail -n 30 "$work/boot.log" >&2; exit 1; }
