# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts here: $jar, java25 and the commands' log.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
jar=bench/target/benchmarks.jar

java=
for home in "${JAVA_HOME:-}" /usr/lib/jvm/*; do
  if grep -qs '^JAVA_VERSION="\(2[5-9]\|[3-9][0-9]\)' "$home/release" && [ -x "$home/bin/java" ]; then java=$home/bin/java; fi
done
[ -n "$java" ] || {
  echo "No JDK 25 in JAVA_HOME or /usr/lib/jvm." >&2
  exit 1
}
[ -f "$jar" ] || {
  echo "There is no $jar: mvn -q -f bench/reactor.xml package -DskipTests" >&2
  exit 1
}

# bounded SECONDS ARGUMENT...: the jar with those arguments; nothing may hang. UCX complains of its own version on stdout: silenced.
bounded() {
  local limit=$1
  shift
  UCX_LOG_LEVEL=error UCX_WARN_UNUSED_ENV_VARS=n timeout --kill-after=10 "$limit" "$java" -jar "$jar" "$@"
}
