#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Usage: run.sh [FOLDER]
# Measures everything that needs no GPU: FOLDER (bench/results/<date>-<host class>) gets JMH's and perf's JSON, the machine's facts
# and the commands. About ten minutes on two cores; the machine should be doing nothing else.
set -euo pipefail
. "$(dirname "$0")/common.sh"
out=${1:-bench/results/$(date -u +%F)-$(uname -m)-$(nproc)c}
mkdir -p "$out"
log=bench/target/run.log
: >"$log"
echo "# $(date -u +%FT%TZ), commit $(git rev-parse --short HEAD 2>/dev/null || echo unknown), in the checkout's root" >"$out/commands.txt"
failed=()

# measure LIMIT ARGUMENT...: one run of the jar, noted.
measure() {
  local limit=$1
  shift
  printf 'java -jar %s' "$jar" >>"$out/commands.txt"
  printf ' %q' "$@" >>"$out/commands.txt"
  echo >>"$out/commands.txt"
  printf '%4ss  %s\n' "$SECONDS" "$*"
  bounded "$limit" "$@" >>"$log" 2>&1 || failed+=("$*")
}
left_out=$(bounded 60 facts "$out/facts.json")
# jmh SUITE OPTION...
jmh() {
  local suite=$1
  shift
  measure 400 "\\.$suite\\." "$@" ${left_out:+-e "$left_out"} -foe true -prof gc -rf json -rff "$out/jmh-$suite.json"
}

suites=(FfmCost SubmitAlone SubmitPath SoftNicThroughput SoftNicDrain SoftNicLatency Registration PeerPut DeferredSends DeferredHarvest OverDecomposed)
for suite in "${suites[@]}"; do jmh "$suite"; done
[[ $left_out == *JucxPut* ]] || jmh JucxPut
others=$(bounded 60 -l | grep -c -v -E "^Benchmarks|\\.($(IFS='|'; echo "${suites[*]}")|JucxPut)\\." || true)
if [ "$others" -gt 0 ]; then
  measure 200 -e "\\.($(IFS='|'; echo "${suites[*]}")|JucxPut)\\." -foe true -prof gc -rf json -rff "$out/jmh-others.json"
fi

for test in write_bw read_bw send_bw; do
  measure 120 perf "$test" -a -D 0.4 --validate --quiet --json "$out/perf-$test.json"
done
measure 60 perf atomic_bw -D 2 --quiet --json "$out/perf-atomic_bw.json"
for test in write_lat read_lat send_lat atomic_lat; do
  measure 60 perf "$test" -D 3 --validate --quiet --json "$out/perf-$test.json"
done

echo "Took ${SECONDS}s. Results: $out; log: $log"
if [ ${#failed[@]} -gt 0 ]; then
  printf 'FAILED: %s\n' "${failed[@]}" >&2
  exit 1
fi
