#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Usage: native/test/mlx5/coverage.sh [BUILD_DIR]
# How many lines of path DIRECT (native/src/verbs/direct*.cpp, mlx5*.cpp) its native tests and the Java tests of the POM's execution mlx5
# execute, together; prints those that none does. Fails below 95 %. Needs gcov, and what `mvn test-compile` needs.
set -euo pipefail
cd "$(dirname "$0")/../../.."
root=$PWD
build=${1:-target/coverage}
mkdir -p "$build"
build=$(cd "$build" && pwd)
least=95
tests=(direct_test defects_test sweep_test)

cmake -S native -B "$build" -DGV_TESTS=ON -DGV_COVERAGE=ON -DGV_PTX=off >"$build/cmake.log"
cmake --build "$build" --parallel "$(nproc)" --target gpuverbs fake_cuda "${tests[@]}" >"$build/build.log" 2>&1 ||
  { tail -n 40 "$build/build.log" >&2 && exit 1; }
find "$build" -name '*.gcda' -delete
for test in "${tests[@]}"; do
  LD_LIBRARY_PATH=$build/mlx5:$build/fake "$build/$test" >"$build/$test.log" || { cat "$build/$test.log" >&2 && exit 1; }
done
mvn -q -B -ntp test-compile surefire:test@mlx5 "-Dtest.jvm.args=-Xmx1g -Dorg.gpuverbs.native.dir=$build"

# Both the library and the test have the objects: a line counts if either has executed it.
rm -rf "$build/gcov"
for target in gpuverbs gpuverbs_objects; do
  for data in "$build/CMakeFiles/$target.dir/src/verbs/"*.gcda; do
    [ -e "$data" ] || continue
    mkdir -p "$build/gcov/$target"
    (cd "$build/gcov/$target" && gcov -o "$(dirname "$data")" "$data" >/dev/null 2>&1)
  done
done
perl -e '
  my ($least, $root, @files) = @ARGV;
  my (%seen, %hit, %text);
  for my $file (@files) {
    open my $in, "<", $file or die "$file: $!";
    my $source = "";
    while (<$in>) {
      $source = $1 if /^\s*-:\s*0:Source:(.*)/;
      my ($count, $line, $code) = /^\s*([^:]+):\s*(\d+):(.*)/ or next;
      next if $line == 0 || $count =~ /^-$/ || $source !~ m{native/src/verbs/(direct|mlx5)[^/]*\.cpp$};
      my $at = sprintf "%s:%05d", $source =~ s{^\Q$root\E/}{}r, $line;
      $seen{$at} = 1;
      $text{$at} = $code;
      $hit{$at} = 1 unless $count =~ /^[#=]/;
    }
  }
  my $all = keys %seen or die "no line of path DIRECT was compiled for coverage\n";
  for my $at (sort grep { !$hit{$_} } keys %seen) {
    my ($file, $line) = $at =~ /(.*):0*(\d+)$/;
    print "not executed: $file:$line:$text{$at}\n";
  }
  my $percent = 100 * keys(%hit) / $all;
  printf "path DIRECT: %d of %d lines executed, %.1f %%\n", scalar keys %hit, $all, $percent;
  exit($percent < $least ? 1 : 0);
' "$least" "$root" $(find "$build/gcov" -name '*.cpp.gcov')
