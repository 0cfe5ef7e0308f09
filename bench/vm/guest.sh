#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs in the guest for perftest.sh: each test by perftest's own program and by perf, rxe1 the server, rxe0 the client.
set -u
depth=128
java=("${JAVA_HOME:?}/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData -Xmx384m
  -XX:SharedArchiveFile="$PWD/classes.jsa" -jar "$PWD/benchmarks.jar")
out=$PWD/results
port=18600
status=0
table=$out/perftest.tsv
printf 'test\tbytes\tmessages\tperftest messages\tunit\tperftest\tperf\tperf by perftest\n' >"$table"
{
  echo "# In the guest. ib_* of perftest $(dpkg-query -W -f '${Version}' perftest); kernel $(uname -r); path PROXY, rxe0 to rxe1"
} >"$out/commands.txt"

# both NAME LIMIT SERVER... -- CLIENT...: the client's output in NAME.txt
both() {
  local name=$1 limit=$2 server=() client=() pid rc
  shift 2
  while [ "$1" != -- ]; do server+=("$1"); shift; done
  shift
  client=("$@")
  printf '%q ' "${server[@]}" >>"$out/commands.txt"; echo '&' >>"$out/commands.txt"
  printf '%q ' "${client[@]}" >>"$out/commands.txt"; echo >>"$out/commands.txt"
  timeout "$limit" "${server[@]}" >"$out/$name.server.txt" 2>&1 &
  pid=$!
  # Both clients try only once: wait until somebody listens.
  for ((i = 0; i < 600; i++)); do
    grep -q ":$(printf %04X "$port") 00000000:0000 0A\|:$(printf %04X "$port") 0*:0000 0A" /proc/net/tcp /proc/net/tcp6 && break
    sleep 0.1
  done
  timeout "$limit" "${client[@]}" >"$out/$name.txt" 2>&1
  rc=$?
  wait "$pid" || rc=$?
  rm -f "$out/$name.server.txt"
  [ "$rc" -eq 0 ] || { echo "FAILED $name (status $rc)"; cat "$out/$name.txt"; status=1; }
}

# row TEST BYTES: column COLUMN of the line of BYTES, both tools
row() {
  local test=$1 bytes=$2 messages=$3 name=$1-$2 column ours theirs unit
  port=$((port + 1))
  local list=()
  case $test in *_bw) list=(-l 16) ;; esac
  both "perftest-$name" 120 "ib_$test" -d rxe1 -x 1 -p "$port" -F -s "$bytes" -n "$messages" -t "$depth" "${list[@]}" -- \
    "ib_$test" -d rxe0 -x 1 -p "$port" -F -s "$bytes" -n "$messages" -t "$depth" "${list[@]}" 127.0.0.1
  port=$((port + 1))
  both "perf-$name" 400 "${java[@]}" perf "$test" --server -p "$port" -d rxe1 --quiet -- \
    "${java[@]}" perf "$test" "127.0.0.1:$port" -d rxe0 -s "$bytes" -n "$messages" -t "$depth" "${list[@]}" --warm-up 3 --validate --quiet
  # Average bandwidth, or typical latency.
  case $test in *_bw) column=4 unit=MiB/s ;; *) column=5 unit=us ;; esac
  # Both print a row that begins with the size.
  theirs=$(awk -v b="$bytes" '$1 == b { print $'"$column"', $2 }' "$out/perftest-$name.txt" | tail -1)
  ours=$(awk -v b="$bytes" '$1 == b { print $'"$column"', $2, $NF }' "$out/perf-$name.txt" | tail -1)
  echo "$test $bytes: perftest: $theirs; perf: $ours"
  awk -v OFS='\t' -v t="$test" -v b="$bytes" -v u="$unit" -v theirs="$theirs" -v ours="$ours" 'BEGIN {
    split(theirs, a, " "); split(ours, o, " ");
    if (a[1] + 0 == 0 || o[1] + 0 == 0 || o[3] != "yes") exit 1;
    printf "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.2f\n", t, b, o[2], a[2], u, a[1], o[1], o[1] / a[1] }' >>"$table" || status=1
}

# perftest takes multiples of the post list.
row write_bw 65536 512
row write_lat 8 500
row read_bw 65536 512
row send_lat 8 500
exit "$status"
