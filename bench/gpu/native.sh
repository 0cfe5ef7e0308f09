#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: native.sh OUT_DIR [BIN_DIR]
# The native GPU harness on a machine with a GPU: submit rates (rates.csv) and the soak (soak.csv), with the machine's facts
# (machine.txt). Compiles with nvcc, or takes rates and soak from BIN_DIR where they were compiled elsewhere.
set -eu
out=$1
here=$(cd "$(dirname "$0")" && pwd)
bin=${2:-$out/bin}
mkdir -p "$out" "$bin"
if [ $# -lt 2 ]; then
  for program in rates soak; do
    nvcc -std=c++17 -O3 -arch=sm_90 -I"$here/../../native/include" "$here/$program.cu" -o "$bin/$program"
  done
fi
{
  date -u +%Y-%m-%dT%H:%M:%SZ
  nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,pcie.link.gen.current --format=csv
  grep -m1 'model name' /proc/cpuinfo
  nproc
} >"$out/machine.txt"
# A kernel that hangs must not hold the machine: each program has a watchdog inside, and this limit outside.
timeout 240 "$bin/rates" GNH >"$out/rates.csv"
timeout 300 "$bin/soak" "${GV_SOAK_MILLIONS:-60}" >"$out/soak.csv"
grep '^# sound' "$out/soak.csv"
