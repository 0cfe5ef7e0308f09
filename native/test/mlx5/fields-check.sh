#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: fields-check.sh [DIRECTORY_OF_mlx5_ifc.h]
# fields.tsv is what fields.sh prints with the header of Linux 6.1, and the rows of umem.tsv, fields that only user space has (source:
# rdma-core, providers/mlx5/mlx5_ifc.h), lie where that header says reserved. Later headers name some reserved bits and move two
# capabilities, so they are not compared. Exit status 77: no header, or no C compiler.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-}
for each in /usr/src/linux-headers-6.1.*-common/include/linux/mlx5; do
  if [ -z "$folder" ] && [ -r "$each/mlx5_ifc.h" ]; then folder=$each; fi
done
if [ -z "$folder" ]; then
  echo "skipped: no /usr/src/linux-headers-6.1.*-common/include/linux/mlx5/mlx5_ifc.h: install linux-headers-6.1.*-common"
  exit 77
fi
if ! command -v "${CC:-cc}" >/dev/null 2>&1; then
  echo "skipped: no C compiler"
  exit 77
fi
made=$(mktemp)
trap 'rm -f "$made"' EXIT
sh "$here/fields.sh" "$folder" >"$made"
diff -u "$here/fields.tsv" "$made"
awk -F '\t' '
  NR == FNR { if ($2 ~ /^reserved/) { n++; s[n] = $1; from[n] = $3; to[n] = $3 + $4 }; next }
  {
    ok = 0
    for (i = 1; i <= n; i++) if (s[i] == $1 && from[i] <= $3 && to[i] >= $3 + $4) ok = 1
    if (!ok) { print $1 "." $2 " is not in a reserved place"; bad = 1 }
  }
  END { exit bad }
' "$made" "$here/umem.tsv"
echo "fields.tsv agrees with $folder"
