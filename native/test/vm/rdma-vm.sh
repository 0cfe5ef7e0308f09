#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# rdma-vm.sh - boot a throw-away VM (Debian's kernel, soft-RoCE) and run one command in it.
#
#   rdma-vm.sh [-a tcg|kvm|auto] [-m MiB] [-c vcpus] [-t seconds] [-p DIR] [-k RELEASE] -- CMD [ARG...]
#
# The guest's root is this machine's / (9p, read-only) under a tmpfs overlay, so every tool, JDK and
# ~/.m2 of this machine is there; DIR (default: the current folder) is mounted read-write at the same
# path and is the working directory. Nothing else that the guest writes survives it. The guest has no network
# to the outside.
# RDMA devices in the guest (GID index 1 = RoCE v2, IPv4):
#   rxe0 10.77.0.1 on v0, rxe1 10.77.0.2 on v1: the two ends of a veth pair; packets between them really
#     cross it (policy routing), so `tc qdisc add dev v0 root netem loss 1%` or tcpdump work on it
#   rxelo 10.78.0.1 on a dummy device, for loopback
# Environment: RDMA_VM_ENV="A B" passes those variables on; RDMA_VM_KEEP=DIR keeps console and dmesg;
#   RDMA_VM_VERBOSE=1 prints timings; RDMA_VM_KO="a.ko b.ko" loads more modules (last);
#   RDMA_VM_MODULES="x y" adds modules of Debian's kernel; RDMA_VM_CACHE=DIR (default /var/cache/rdma-vm);
#   RDMA_VM_INSTALL=1 installs missing packages and downloads the kernel (as root).
# Exit status: the command's; 124 on time-out; 125 when the VM itself failed; 126 when this machine can't run one.
set -euo pipefail
ACCEL=tcg MEM=2048 CPUS=2 TMO=170 DIR=$PWD KREL=
while getopts a:m:c:t:p:k: o; do case $o in
  a) ACCEL=$OPTARG;; m) MEM=$OPTARG;; c) CPUS=$OPTARG;; t) TMO=$OPTARG;; p) DIR=$OPTARG;; k) KREL=$OPTARG;; *) exit 125;; esac; done
shift $((OPTIND-1)); [ $# -gt 0 ] || { sed -n '2,6p' "$0" >&2; exit 125; }
cannot() { echo "rdma-vm: no VM: $*" >&2; exit 126; }
[ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || cannot "needs Linux on x86-64"
command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || cannot "needs Debian's packages"
DIR=$(realpath "$DIR"); CACHE=${RDMA_VM_CACHE:-/var/cache/rdma-vm}; mkdir -p "$CACHE" 2>/dev/null && [ -w "$CACHE" ] || cannot "can't write to $CACHE"
say() { [ -z "${RDMA_VM_VERBOSE:-}" ] || echo "rdma-vm: $*" >&2; }

# 1. Debian packages
need=(); for p in qemu-system-x86 seabios busybox-static kmod cpio xz-utils iproute2 ibverbs-providers; do
  [ "$(dpkg-query -W -f '${Status}' "$p" 2>/dev/null)" = "install ok installed" ] || need+=("$p"); done
if [ ${#need[@]} -gt 0 ]; then
  [ -n "${RDMA_VM_INSTALL:-}" ] || cannot "packages are missing (RDMA_VM_INSTALL=1 installs them): ${need[*]}"
  say "installing ${need[*]}"; apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${need[@]}" >/dev/null
fi

exec 9>"$CACHE/lock"; flock 9

# 2. kernel: unpacked, not installed; one already unpacked here is taken as it is
newest() { apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/.*Depends: linux-image-//p' | head -1; }
[ -n "$KREL" ] || KREL=$(ls "$CACHE" | sed -n 's/^root-//p' | sort -V | tail -1)
if [ -z "$KREL" ]; then KREL=$(newest); [ -n "$KREL" ] || { apt-get update -qq; KREL=$(newest); }; fi
K=$CACHE/root-$KREL
if [ ! -e "$K/ok" ]; then
  [ -n "${RDMA_VM_INSTALL:-}" ] || cannot "the guest's kernel is missing (RDMA_VM_INSTALL=1 downloads it)"
  rm -rf "$K" "$CACHE/dl"; mkdir -p "$K" "$CACHE/dl"
  get() { (cd "$CACHE/dl" && apt-get -qq -o APT::Sandbox::User=root download "linux-image-$KREL"); }
  get || { apt-get update -qq; get; }
  dpkg -x "$CACHE"/dl/*.deb "$K"; rm -rf "$CACHE/dl"
  depmod -b "$K" "$KREL"
  # uncompressed kernel (PVH entry): under TCG unpacking in the guest costs seconds
  z=$K/boot/vmlinuz-$KREL; le() { od -An -tu4 -j"$1" -N4 "$z" | tr -d ' '; }
  off=$(( ($(od -An -tu1 -j497 -N1 "$z") + 1) * 512 + $(le 584) ))
  { tail -c+$((off+1)) "$z" | head -c "$(le 588)" | xz -dc > "$K/vmlinux"; } 2>/dev/null || true
  [ "$(head -c4 "$K/vmlinux" | od -An -tx1 | tr -d ' ')" = 7f454c46 ] || cp "$z" "$K/vmlinux"
  touch "$K/ok"
fi

# 3. initramfs: static busybox and the modules, in load order
STAMP=$( { sha256sum "${BASH_SOURCE[0]}"; echo "$KREL ${RDMA_VM_MODULES:-}"; for f in ${RDMA_VM_KO:-}; do sha256sum "$f"; done; } | sha256sum | cut -c1-16)
IRD=$CACHE/initrd-$STAMP.cpio
if [ ! -e "$IRD" ]; then
  W=$(mktemp -d); mkdir -p "$W"/{bin,dev,proc,sys,m,lower,rw,root}; cp /bin/busybox "$W/bin/busybox"
  mods() { for x in "$@"; do modprobe -d "$K" -S "$KREL" --show-depends "$x" | awk '/^insmod/{print $2}'; done | awk '!s[$0]++'; }
  # crc32_*: rxe asks the crypto layer for "crc32" by name, which no module dependency shows
  mods virtio_pci virtio_console 9pnet_virtio 9p overlay crc32_generic crc32-pclmul dummy veth ib_uverbs rdma_ucm rdma_rxe ${RDMA_VM_MODULES:-} > "$W/l"
  for f in ${RDMA_VM_KO:-}; do mods $(modinfo -F depends "$f" | tr , ' ') >> "$W/l"; realpath "$f" >> "$W/l"; done
  awk '!s[$0]++' "$W/l" > "$W/l2"; xargs cp -t "$W/m" < "$W/l2"; sed 's#.*/##' "$W/l2" > "$W/list"; rm "$W/l" "$W/l2"
  cat > "$W/init" <<'INIT'
#!/bin/busybox sh
B=/bin/busybox; $B mount -t devtmpfs d /dev; $B mount -t proc p /proc; $B mount -t sysfs s /sys
for m in $($B cat /list); do $B insmod /m/$m || echo "insmod $m failed"; done
for w in $($B cat /proc/cmdline); do case $w in vm_dir=*) D=${w#vm_dir=};; esac; done
O=trans=virtio,version=9p2000.L,msize=512000
$B mount -t 9p -o $O,ro,cache=loose host /lower && $B mount -t tmpfs t /rw && $B mkdir /rw/u /rw/w &&
$B mount -t overlay -o lowerdir=/lower,upperdir=/rw/u,workdir=/rw/w o /root || { echo "no root"; $B poweroff -f; }
for d in dev proc sys; do $B mount --move /$d /root/$d; done
$B mkdir -p /root/dev/shm; for d in dev/shm tmp; do $B mount -t tmpfs -o mode=1777 t /root/$d; done; $B mount -t tmpfs t /root/run
$B mkdir -p "/root$D" /root/run/vm
$B mount -t 9p -o $O,cache=none proj "/root$D"; $B mount -t 9p -o $O,cache=none ctl /root/run/vm
exec $B switch_root /root /bin/bash /run/vm/stage2
INIT
  chmod +x "$W/init"; (cd "$W" && find . | cpio -o -H newc --quiet) > "$IRD.tmp"; rm -rf "$W"
  find "$CACHE" -maxdepth 1 -name 'initrd-*.cpio' -mmin +60 -delete; mv "$IRD.tmp" "$IRD"
fi

flock -u 9

# 4. control folder: second stage, command, environment; the guest writes rc here
CTL=$(mktemp -d /tmp/rdma-vm.XXXXXX); trap 'rm -rf "$CTL"' EXIT
printf '%q ' "$@" > "$CTL/cmd"
for v in JAVA_HOME ${RDMA_VM_ENV:-}; do [ -z "${!v+x}" ] || printf 'export %s=%q\n' "$v" "${!v}"; done > "$CTL/env"
printf 'KM=%q KREL=%q DIR=%q\n' "$K/lib/modules/$KREL" "$KREL" "$DIR" > "$CTL/vars"
cat > "$CTL/stage2" <<'STAGE2'
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb
. /run/vm/vars; cp /proc/uptime /run/vm/t.stage2
{
mkdir -p "/lib/modules/$KREL"; mount --bind "$KM" "/lib/modules/$KREL"      # so that modprobe works (tc netem, ...)
echo vm > /proc/sys/kernel/hostname; ulimit -l unlimited; ip link set lo up
ip link add lo0 type dummy; ip addr add 10.78.0.1/24 dev lo0; ip link set lo0 mtu 4200 up
ip link add v0 mtu 4200 type veth peer name v1 mtu 4200
n=1; for i in v0 v1; do ip addr add 10.77.0.$n/24 dev $i; ip link set $i up; n=$((n+1))
  c=/proc/sys/net/ipv4/conf; echo 1 > $c/$i/accept_local; echo 0 > $c/$i/rp_filter; echo 1 > $c/$i/arp_ignore; echo 2 > $c/$i/arp_announce; done
echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter
ip route add 10.77.0.2/32 dev v0 src 10.77.0.1 table 77; ip route add 10.77.0.1/32 dev v1 src 10.77.0.2 table 77
ip rule add pref 10 iif lo from 10.77.0.1 to 10.77.0.2 lookup 77; ip rule add pref 10 iif lo from 10.77.0.2 to 10.77.0.1 lookup 77
ip rule add pref 100 lookup local; ip rule del pref 0
rdma link add rxelo type rxe netdev lo0; rdma link add rxe0 type rxe netdev v0; rdma link add rxe1 type rxe netdev v1
for i in $(seq 50); do [ "$(cat /sys/class/infiniband/rxe[01]/ports/1/state 2>/dev/null | grep -c ACTIVE)" = 2 ] && break; sleep 0.1; done
} > /run/vm/setup.log 2>&1
cp /proc/uptime /run/vm/t.ready
P=/dev/$(ls /sys/class/virtio-ports | head -1)
( . /run/vm/env; cd "$DIR" && eval "exec $(cat /run/vm/cmd)" ) </dev/null >"$P" 2>&1
echo $? > /run/vm/rc; cp /proc/uptime /run/vm/t.done; dmesg > /run/vm/dmesg
sync; echo o > /proc/sysrq-trigger; sleep 60
STAGE2

# 5. go
case $ACCEL in auto) if [ -w /dev/kvm ] && grep -qE '^flags.* (vmx|svm)( |$)' /proc/cpuinfo; then ACCEL=kvm; else ACCEL=tcg; fi;; esac
case $ACCEL in kvm) A=(-accel kvm -cpu host);; *) A=(-accel tcg,thread=multi,tb-size=512 -cpu max);; esac
FS=security_model=none,multidevs=remap
mkfifo "$CTL/out"; cat "$CTL/out" & CAT=$!
T0=$(date +%s%N); RC=0
timeout -k 5 "$TMO" qemu-system-x86_64 "${A[@]}" -machine q35,usb=off,smbus=off,vmport=off,graphics=off \
  -bios /usr/share/qemu/qboot.rom -nodefaults -no-user-config -display none -no-reboot -m "$MEM" -smp "$CPUS" \
  -kernel "$K/vmlinux" -initrd "$IRD" \
  -append "console=ttyS0 quiet panic=-1 nokaslr mitigations=off audit=0 apparmor=0 random.trust_cpu=on tsc=reliable no_timer_check cryptomgr.notests vm_dir=$DIR ${RDMA_VM_APPEND:-}" \
  -serial "file:$CTL/console" -device virtio-rng-pci \
  -device virtio-serial-pci -chardev "file,id=out,path=$CTL/out" -device virtserialport,chardev=out,name=out \
  -virtfs "local,path=/,mount_tag=host,readonly=on,$FS" -virtfs "local,path=$DIR,mount_tag=proj,$FS" \
  -virtfs "local,path=$CTL,mount_tag=ctl,$FS" ${RDMA_VM_QEMU:-} </dev/null >&2 || RC=$?
T1=$(date +%s%N)
[ -e "$CTL/rc" ] || kill $CAT 2>/dev/null || true; wait $CAT 2>/dev/null || true
say "$ACCEL: total $(( (T1-T0)/1000000 )) ms; guest uptime at stage 2, ready, done: $(cat "$CTL"/t.{stage2,ready,done} 2>/dev/null | awk '{printf "%s ", $1}')s"
[ -z "${RDMA_VM_KEEP:-}" ] || cp "$CTL"/{console,dmesg,setup.log} "$RDMA_VM_KEEP"/ 2>/dev/null || true
if [ -s "$CTL/rc" ]; then exit "$(cat "$CTL/rc")"; fi
echo "rdma-vm: the VM ended without a result (qemu: $RC); its console:" >&2; tail -40 "$CTL/console" >&2 || true
[ $RC -ne 124 ] || exit 124; exit 125
