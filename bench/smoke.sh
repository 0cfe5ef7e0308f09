#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A short run of every suite and command. Fails on an exception, and on 1 B/op or more where nothing may be allocated; never on a
# time. Results go to bench/target/smoke and mean nothing.
set -euo pipefail
. "$(dirname "$0")/common.sh"
out=bench/target/smoke
rm -rf "$out"
mkdir -p "$out/results"
suites=SubmitPath,SubmitAlone,FfmCost,SoftNicDrain,SoftNicLatency,SoftNicThroughput,Registration,PeerPut

fail() {
  echo "smoke: $*" >&2
  exit 1
}
# jmh NAME LIMIT OPTION...
jmh() {
  local name=$1 limit=$2
  shift 2
  bounded "$limit" "$@" -foe true -prof gc -rf json -rff "$out/results/$name.json" >"$out/$name.log" 2>&1 || {
    tail -n 60 "$out/$name.log" >&2
    fail "JMH failed; the whole log is $out/$name.log"
  }
}

left_out=$(bounded 60 facts "$out/results/facts.json")
jmh jmh 500 -f 1 -wi 1 -w 300ms -i 3 -r 150ms -p lanes=1,4 -p batch=16 -p size=64 -p fence=SYSTEM -p tasks=8 -p millis=100 ${left_out:+-e "$left_out"}
again=$(bounded 60 check --again --suites "$suites" "$out/results/jmh.json") || fail "a suite did not run"
if [ -n "$again" ]; then
  echo "smoke: measured again for longer: $again"
  # The least of four iterations: JMH and the JVM allocate some kilobytes in each, now and then a hundred; the fifth also holds the end.
  jmh again 500 "$again" -f 1 -wi 2 -w 1s -i 5 -r 1s -p lanes=1,4 -p batch=16 -p size=64 -p fence=SYSTEM
  bounded 60 check "$out/results/again.json" || fail "something allocates that must not"
else
  bounded 60 check --suites "$suites" "$out/results/jmh.json" || fail "something allocates that must not"
fi

for test in write_bw write_lat read_bw read_lat send_bw send_lat atomic_bw atomic_lat; do
  bounded 120 perf "$test" -n 300 --warm-up 0.05 --validate --quiet --json "$out/results/$test.json" >"$out/$test.log" 2>&1 || {
    cat "$out/$test.log" >&2
    fail "perf $test"
  }
  tail -n 1 "$out/$test.log"
done

bounded 60 report "$out/results" bench/results/*/ -o "$out/report"
[ -s "$out/report/index.html" ] || fail "no report"
echo "smoke: passed in ${SECONDS}s"
