#!/usr/bin/env bash
# Tries the static binary on a real kernel: in a QEMU guest with two soft-RoCE
# devices, where the program in check/ compares /metrics with the files. See
# README.md beside this file.
set -euo pipefail

cd "$(dirname "$0")/../.."
go=${GO:-go}
run_vm=${SHARED:-../shared}/testbed/run-vm

lacking=()
[ -x "$run_vm" ] || lacking+=("$run_vm, which boots the guest (SHARED names the folder that has testbed/run-vm)")
for tool in "$go" make "${QEMU:-qemu-system-x86_64}" cpio apt-get dpkg flock; do
	command -v "$tool" >/dev/null || lacking+=("the program $tool")
done
if [ ${#lacking[@]} -gt 0 ]; then
	printf 'test-vm cannot run here. It lacks:\n' >&2
	printf '  %s\n' "${lacking[@]}" >&2
	exit 1
fi

# The guest sees this folder. Its users are not this machine's: one of them, who
# owns nothing, runs the binary as well.
share=$(mktemp -d)
trap 'rm -rf "$share"' EXIT
chmod 755 "$share"
make --no-print-directory -s build BINARY="$share/rdmawatch"
CGO_ENABLED=0 "$go" build -trimpath -buildvcs=false -ldflags '-s -w' -o "$share/check" ./test/vm/check

# The limit is for a guest that hangs, on a machine however busy.
"$run_vm" -t 600 -p "$share" -- ./check
