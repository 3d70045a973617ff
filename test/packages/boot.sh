#!/usr/bin/env bash
# Becomes systemd on a copy of this machine, for run.sh: process 1 of its
# namespaces. What it could write to that is not the copy's is read-only.
set -euo pipefail

mount --make-rprivate /
mkdir "$WORK/top"
mount -t tmpfs none "$WORK/top"
mkdir "$WORK"/top/{upper,work,merged}
top=$WORK/top/merged
mount -t overlay overlay -o "lowerdir=/,upperdir=$WORK/top/upper,workdir=$WORK/top/work" "$top"

mount -t proc proc "$top/proc"
mount --bind "$top/proc/sys" "$top/proc/sys"
mount -o remount,bind,ro "$top/proc/sys"
mount -t sysfs -o ro sysfs "$top/sys"
mount -t cgroup2 none "$top/sys/fs/cgroup"
mount -t tmpfs -o mode=755 none "$top/run"
mount -t tmpfs -o mode=1777 none "$top/tmp"
mount -t tmpfs -o mode=755 none "$top/dev"
for node in null zero full random urandom tty; do
	touch "$top/dev/$node"
	mount --bind "/dev/$node" "$top/dev/$node"
done
# What PrivateDevices= passes on.
mkdir "$top"/dev/{pts,shm,mqueue,hugepages}
mount -t devpts -o newinstance,ptmxmode=666 devpts "$top/dev/pts"
ln -s pts/ptmx "$top/dev/ptmx"
ln -s /proc/self/fd "$top/dev/fd"

# Nothing of this machine is started but what the packages bring.
: >"$top/etc/fstab"
rm -rf "$top"/{etc,usr/lib}/systemd/system/{sysinit,local-fs,basic,sockets,timers,multi-user,network-online}.target.wants
rm -f "$top/usr/sbin/policy-rc.d"
printf '[Unit]\nDefaultDependencies=no\n' >"$top/etc/systemd/system/nothing.target"

mkdir "$top/opt/packages"
cp -r "$WORK"/{old,new,inside.sh} "$top/opt/packages/"
ip link set lo up
exec chroot "$top" /usr/bin/env -i container=rdmawatch-test PATH=/usr/sbin:/usr/bin:/sbin:/bin \
	/lib/systemd/systemd --system --unit=nothing.target --log-target=console --show-status=0
