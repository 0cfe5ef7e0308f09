#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: table.sh rates.csv
# The README's table of GPU submit rates, from the harness's lines: for each row the policies named, fastest first.
set -eu
csv=$1
# row TITLE PLACEMENT MODE QUEUES THREADS POLICY...: the fastest of the policies, and the same in the other fence mode.
row() {
  title=$1 place=$2 mode=$3 queues=$4 threads=$5
  shift 5
  best=$(for policy; do
    awk -F, -v p="$policy" -v m="$mode" -v l="$place" -v q="$queues" -v t="$threads" \
      '$1 == p && $2 == m && $3 == l && $4 == q && $5 == t { printf "%.1f %s %d %.4f\n", $7, $1, $10, $11 }' "$csv"
  done | sort -rn | head -n 1)
  [ -n "$best" ] || { echo "table.sh: no line for $title in $csv" >&2; exit 1; }
  set -- $best
  system=$(awk -F, -v p="$2" -v l="$place" -v q="$queues" -v t="$threads" \
    '$1 == p && $2 == "SYSTEM" && $3 == l && $4 == q && $5 == t { printf "%.1f", $7 }' "$csv")
  fast=$(awk -F, -v p="$2" -v m="$mode" -v l="$place" -v q="$queues" -v t="$threads" \
    '$1 == p && $2 == m && $3 == l && $4 == q && $5 == t { printf ($7 < 10 ? "%.2f" : "%.0f"), $7 }' "$csv")
  printf '| %s | `%s` | %s | %s | %s | %s |\n' "$title" "$2" "$fast" "${system:--}" "$3" "$4"
}
echo '| submitters | fastest | M WQEs/s | the same in mode SYSTEM | cycles a call | doorbells a WQE |'
echo '|---|---|---|---|---|---|'
row '1 thread, shared queue' G DEVICE 1 1 turn_cas bitmap classic turn_ldst
row '1 thread, EXCLUSIVE' G DEVICE 1 1 exclusive
row '1 warp, shared queue' G DEVICE 1 32 turn_cas bitmap classic turn_ldst
row '1 warp, EXCLUSIVE' G DEVICE 1 32 exclusive
row '128 threads' G DEVICE 1 128 turn_cas bitmap classic classic_every_128 turn_ldst
row '1024 threads' G DEVICE 1 1024 turn_cas bitmap classic classic_every_128 turn_ldst
row '1024 threads, block scope' G DEVICE 1 1024 turn_cas_block bitmap_block
row '4096 threads' G DEVICE 1 4096 turn_cas bitmap classic classic_every_128 turn_ldst
row '132 queues, a warp each, shared' N DEVICE 132 32 turn_cas bitmap classic turn_ldst
row '132 queues, a warp each, EXCLUSIVE' N DEVICE 132 32 exclusive
row 'ring in host memory, 1 warp' H SYSTEM 1 32 turn_cas bitmap classic turn_ldst
row 'ring in host memory, 1024 threads, block scope' H SYSTEM 1 1024 turn_cas_block
row 'the seed path, always, 1024 threads' G DEVICE 1 1024 seed_always
row 'the seed path, every 4th, 1024 threads' G DEVICE 1 1024 seed_every_4
