#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: build.sh OUTPUT_DIR JAVA_HOME
# Builds libgpuverbs-twin.so; where that can't be done, MISSING.txt says why, and the build goes on.
set -u
out=$1
home=$2
source=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out" || exit 1

missing() {
  rm -f "$out/libgpuverbs-twin.so"
  echo "$1" >"$out/MISSING.txt"
  echo "bench: the C and JNI rows are left out: $1"
  exit 0
}

for compiler in "${CC:-}" cc gcc clang; do
  [ -n "$compiler" ] && command -v "$compiler" >/dev/null 2>&1 && break
  compiler=
done
[ -n "$compiler" ] || missing "no C compiler when the benchmarks were built (apt-get install gcc)"

include=
for jdk in "$home" "${JAVA_HOME:-}" /usr/lib/jvm/*; do
  if [ -f "$jdk/include/jni.h" ]; then
    include=$jdk/include
    break
  fi
done
[ -n "$include" ] || missing "no jni.h when the benchmarks were built (in \$JAVA_HOME/include of a JDK)"

log=$(mktemp) || exit 1
if "$compiler" -O3 -std=c11 -Wall -Wextra -fPIC -shared -I"$include" -I"$include/linux" \
  -I"$source/../../../../native/include" "$source/twin.c" -o "$out/libgpuverbs-twin.so.new" >"$log" 2>&1; then
  rm -f "$log" "$out/MISSING.txt"
  mv "$out/libgpuverbs-twin.so.new" "$out/libgpuverbs-twin.so"
else
  cat "$log" >&2
  rm -f "$log"
  missing "twin.c did not compile"
fi
