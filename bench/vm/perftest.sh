#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Usage: perftest.sh [FOLDER]
# perf over path PROXY and perftest's ib_* beside it, on the two soft-RoCE devices of a virtual machine: the same sizes, messages, depth
# and post list. FOLDER (bench/results/<date>-vm) gets what both printed and perftest.tsv, the rows side by side. The VM is
# emulated: only ratios within a row mean anything. As root it installs what is missing (qemu, perftest).
set -euo pipefail
. "$(dirname "$0")/../common.sh"
out=${1:-bench/results/$(date -u +%F)-vm}
limit=${2:-900}
export JAVA_HOME=${java%/bin/java}
if [ "$(id -u)" -eq 0 ]; then
  export RDMA_VM_INSTALL=1
  command -v ib_write_bw >/dev/null || DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends perftest >/dev/null
fi
command -v ib_write_bw >/dev/null || {
  echo "perftest is missing: apt-get install perftest" >&2
  exit 1
}
share=target/vm-perftest
rm -rf "$share"
mkdir -p "$share/results"
cp "$jar" "$share/benchmarks.jar"
cp bench/vm/guest.sh "$share/"
# Loading classes is what starting a JVM costs under emulation.
"$java" -XX:+UseSerialGC -XX:ArchiveClassesAtExit="$PWD/$share/classes.jsa" -jar "$PWD/$share/benchmarks.jar" perf write_bw -n 16 \
  --warm-up 0 --validate --quiet >"$share/archive.log" 2>&1
bash native/test/vm/rdma-vm.sh -t "$limit" -p "$share" -- bash "$PWD/$share/guest.sh"
mkdir -p "$out"
cp "$share"/results/* "$out/"
sed -i "s#$JAVA_HOME/bin/##; s#$PWD/##g" "$out/commands.txt"
cat "$out/perftest.tsv"
