#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Regenerates the Java bindings of gpuverbs.h: includes.args, the sources in org.gpuverbs.internal.ffi, GENERATED.properties.
# Needs jextract on the PATH (github.com/openjdk/jextract; JEXTRACT overrides), with libclang 14. A build never runs this.
set -eu
cd "$(dirname "$0")/../.."
jextract=${JEXTRACT:-jextract}
include=native/include
bindings=native/bindings
package=org.gpuverbs.internal.ffi
output=src/main/java/$(echo "$package" | tr . /)

command -v "$jextract" >/dev/null || {
  echo "generate.sh: no jextract on the PATH. Build it from github.com/openjdk/jextract, or set JEXTRACT." >&2
  exit 1
}
versions=$("$jextract" --version 2>&1)
jextract_version=$(echo "$versions" | sed -n 's/^jextract \([^ ]*\).*/\1/p')
clang_version=$(echo "$versions" | sed -n 's/.*clang version \([0-9.]*\).*/\1/p')
case $clang_version in
  14.*) ;;
  # 16 and 19 can't lay out the anonymous struct in mlx5_cqe64; one version keeps the output comparable.
  *)
    echo "generate.sh: this jextract has libclang ${clang_version:-of unknown version}; libclang 14 is needed." >&2
    exit 1
    ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$jextract" -I "$include" --dump-includes "$work/all.args" "$include/gpuverbs.h"
grep -E '^--include-(function gv_|struct gv_|typedef gv_|constant GV_)' "$work/all.args" |
  sed 's/[[:space:]]*#.*//; s/[[:space:]]*$//' | LC_ALL=C sort >"$bindings/includes.args"
"$jextract" -I "$include" --output "$work/src" --target-package "$package" --header-class-name Native \
  "@$bindings/includes.args" "$include/gpuverbs.h"

mkdir -p "$output"
find "$output" -name '*.java' ! -name package-info.java -delete
for file in "$work/src/$(echo "$package" | tr . /)"/*.java; do
  { echo '// SPDX-License-Identifier: Apache-2.0' && cat "$file"; } >"$output/$(basename "$file")"
done

# Comments and white space don't count: what they say never reaches the bindings.
hash_of() {
  perl -0777 -pe 's{/\*.*?\*/}{ }gs; s{//[^\n]*}{ }g; s{\s+}{ }g' "$1" | sha256sum | cut -d' ' -f1
}
{
  echo "jextract.version=$jextract_version"
  echo "libclang.version=$clang_version"
  for header in gpuverbs.h $(sed -n 's/^#include "\(.*\)"/\1/p' "$include/gpuverbs.h"); do
    echo "sha256.$header=$(hash_of "$include/$header")"
  done
} >"$bindings/GENERATED.properties"
echo "Bindings of $(wc -l <"$bindings/includes.args") declarations written to $output"
