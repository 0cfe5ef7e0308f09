#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: build.sh BUILD_DIR RESOURCE_DIR
# Builds libgpuverbs.so and copies it to RESOURCE_DIR/<platform>/, for this machine and, where a cross compiler is
# installed (g++-aarch64-linux-gnu), for aarch64 too. BUILD_DIR/mlx5 and BUILD_DIR/fake get what tests of path DIRECT run on.
# Prints what CMake says only if the build fails.
set -u
build=$1
resources=$2
source=$(dirname "$0")

# build_for PLATFORM DIR CMAKE_OPTION...
build_for() {
  platform=$1
  dir=$2
  shift 2
  log=$dir/build.log
  mkdir -p "$dir" "$resources/$platform" || exit 1
  if ! {
    cmake -S "$source" -B "$dir" -DCMAKE_BUILD_TYPE=RelWithDebInfo "$@" &&
      cmake --build "$dir" --parallel "$(nproc)"
  } >"$log" 2>&1; then
    grep -v -E '^(-- |\[ *[0-9]+%\])' "$log" >&2
    echo "The native build for $platform failed; the whole log is $log" >&2
    exit 1
  fi
  # Copied only when it differs, so that an unchanged library doesn't make the jar stale.
  cmp -s "$dir/libgpuverbs.so" "$resources/$platform/libgpuverbs.so" ||
    cp "$dir/libgpuverbs.so" "$resources/$platform/libgpuverbs.so" || exit 1
}

# The kernels, where a compiler for them was found: the library loads them on a GPU, and compiles its headers if there are none.
say_ptx() {
  if [ -d "$build/ptx" ]; then
    mkdir -p "$resources/kernels" && cp "$build"/ptx/*.ptx "$build"/ptx/*.cubin "$resources/kernels/" 2>/dev/null
  fi
  sed -n 's/^-- \(PTX: .*\)/\1/p' "$build/build.log"
}

case $(uname -s)-$(uname -m) in
  Linux-x86_64)
    build_for linux-x86_64 "$build" -DGV_STANDIN=ON
    say_ptx
    if command -v aarch64-linux-gnu-g++ >/dev/null 2>&1; then
      build_for linux-aarch_64 "$build-aarch64" -DGV_PTX=off -DCMAKE_SYSTEM_NAME=Linux \
        -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++
    fi
    ;;
  Linux-aarch64)
    build_for linux-aarch_64 "$build" -DGV_STANDIN=ON
    say_ptx
    ;;
  *) echo "No native library for $(uname -s) on $(uname -m): the jar will say so at run time." ;;
esac
