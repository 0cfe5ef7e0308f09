#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: litmus.sh [--explain] FILE.litmus|DIRECTORY...
# Runs the PTX memory-model checker by hand: one line a file, "name PASS" or "name FAIL"; with --explain also the execution
# that decided it. Needs the test classes (mvn test-compile) and a JDK 25.
set -eu
base=$(cd "$(dirname "$0")/../.." && pwd)
java=java
for home in "${JAVA_HOME:-}" /usr/lib/jvm/*; do
  if grep -qs '^JAVA_VERSION="\(2[5-9]\|[3-9][0-9]\)' "$home/release"; then java=$home/bin/java; fi
done
[ -d "$base/target/test-classes/org/gpuverbs/model" ] || {
  echo "No test classes in $base/target: run mvn test-compile first" >&2
  exit 2
}
exec "$java" -Dgpuverbs.basedir="$base" -cp "$base/target/test-classes" org.gpuverbs.model.LitmusMain "$@"
