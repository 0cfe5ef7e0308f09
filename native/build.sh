#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: build.sh BUILD_DIR RESOURCE_DIR
# Builds libgpuverbs.so and copies it to RESOURCE_DIR/<platform>/. Prints what CMake says only if the build fails.
set -u
build=$1
resources=$2
source=$(dirname "$0")
log=$build/build.log

case $(uname -s)-$(uname -m) in
  Linux-x86_64) platform=linux-x86_64 ;;
  Linux-aarch64) platform=linux-aarch_64 ;;
  *)
    echo "No native library for $(uname -s) on $(uname -m): the jar will say so at run time."
    exit 0
    ;;
esac

mkdir -p "$build" "$resources/$platform" || exit 1
if ! {
  cmake -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo ${GPUVERBS_CMAKE_ARGS:-} &&
    cmake --build "$build" --parallel "$(nproc)"
} >"$log" 2>&1; then
  grep -v -E "^(-- |\\[ *[0-9]+%\\])" "$log" >&2
  echo "The native build failed; the log above is $log" >&2
  exit 1
fi
sed -n 's/^-- \(PTX: .*\)/\1/p' "$log"
# Copied only when it differs, so that an unchanged library doesn't make the jar stale.
cmp -s "$build/libgpuverbs.so" "$resources/$platform/libgpuverbs.so" ||
  cp "$build/libgpuverbs.so" "$resources/$platform/libgpuverbs.so"
