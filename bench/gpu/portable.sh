#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: portable.sh TARGET JAR
# Completes TARGET/portable, where Maven has put the libraries: a Java runtime made by jlink, the jar, the test classes, and
# run.sh with what it compiles. The folder runs on any Linux of this machine's kind; for the GPU's part with an NVIDIA driver. Where the tests were
# not compiled, or no JDK 25 has jlink, it says so and makes no folder: the jar does not depend on it.
set -eu
target=$(cd "$1" && pwd)
jar=$2
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
to=$target/portable

for home in "${JAVA_HOME:-}" /usr/lib/jvm/*; do
  if grep -qs '^JAVA_VERSION="\(2[5-9]\|[3-9][0-9]\)' "$home/release" && [ -x "$home/bin/jlink" ]; then jdk=$home; fi
done
none() {
  rm -rf "$to"
  echo "No portable folder: $1."
  exit 0
}
[ -n "${jdk:-}" ] || none "no JDK 25 with jlink in JAVA_HOME or /usr/lib/jvm"
[ -d "$target/test-classes/org" ] || none "the tests are not compiled"

# Kept while the JDK stays the same. The copy of its release file says that the image is whole.
if ! cmp -s "$jdk/release" "$to/jdk-release" || [ ! -x "$to/java/bin/java" ]; then
  rm -rf "$to/java" "$to/jdk-release"
  "$jdk/bin/jlink" --output "$to/java" --strip-debug --no-header-files --no-man-pages --compress zip-9 \
    --add-modules java.base,java.logging,java.management,java.xml,jdk.jfr,jdk.management,jdk.unsupported
  # Class data archives only make the start faster, and symbols only crash logs longer.
  rm -f "$to"/java/lib/server/*.jsa
  ! command -v strip >/dev/null || strip --strip-unneeded "$to/java/lib/server/libjvm.so"
  cp "$jdk/release" "$to/jdk-release"
fi
# A compiler that nobody calls is most of it.
if natives=$(ls "$to"/lib/jcuda-natives-*.jar 2>/dev/null) && "$jdk/bin/jar" tf "$natives" | grep -q JNvPTXCompiler; then
  rm -rf "$to/jcuda" && mkdir "$to/jcuda"
  (cd "$to/jcuda" && "$jdk/bin/jar" xf "$natives" && rm -f lib/*JNvPTXCompiler* && "$jdk/bin/jar" cf "$natives" .)
  rm -rf "$to/jcuda"
fi
cp "$target/$jar" "$to/lib/gpuverbs.jar"
rm -rf "$to/tests" "$to/native" "$to/bench"
cp -r "$target/test-classes" "$to/tests"
mkdir -p "$to/native" "$to/bench"
cp -r "$root/native/include" "$root/native/device" "$to/native/"
cp -r "$here" "$to/bench/"
cp "$here/run.sh" "$to/run.sh"
echo "$(du -sm "$to" | cut -f1) MB in $to: copy it to the machine, and there: bash run.sh RESULTS"
