#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: costs.sh rates.csv
# ORDERING.md's table of what each choice costs: M WQEs/s of each policy by fence mode, placement G, threads on one queue.
set -eu
csv=$1
echo '| policy | mode | 1 thread | 1 warp | 128 threads | 1024 threads | 4096 threads |'
echo '|---|---|---|---|---|---|---|'
for policy in exclusive turn_cas turn_cas_always turn_ldst bitmap classic classic_every_128 seed_always seed_every_4; do
  for mode in DEVICE SYSTEM; do
    awk -F, -v p="$policy" -v m="$mode" '
      $1 == p && $2 == m && $3 == "G" && $4 == 1 { rate[$5] = sprintf($7 < 10 ? "%.2f" : "%.0f", $7); found = 1 }
      END {
        if (!found) exit
        line = "| `" p "` | " m
        n = split("1 32 128 1024 4096", t, " ")
        for (i = 1; i <= n; i++) line = line " | " (t[i] in rate ? rate[t[i]] : "-")
        print line " |"
      }' "$csv"
  done
done
