#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Usage: fields.sh DIRECTORY
# Prints fields.tsv (struct, field, bit offset, bits; field "." is the whole struct) from Linux's include/linux/mlx5/mlx5_ifc.h in
# DIRECTORY: each field's place as the C compiler sees it. Debian: package linux-headers-*-common. Needs cc.
set -eu
header=$1/mlx5_ifc.h
structs="cqc qpc ads cmd_hca_cap atomic_caps roce_cap
create_cq_in create_cq_out destroy_cq_in destroy_cq_out query_cq_in query_cq_out
create_qp_in create_qp_out destroy_qp_in destroy_qp_out query_qp_in query_qp_out
rst2init_qp_in rst2init_qp_out init2init_qp_in init2init_qp_out init2rtr_qp_in init2rtr_qp_out
rtr2rts_qp_in rtr2rts_qp_out rts2rts_qp_in rts2rts_qp_out qp_2err_in qp_2err_out qp_2rst_in qp_2rst_out
query_hca_cap_in query_hca_cap_out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

{
  cat <<'PROLOGUE'
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
#define BIT(n) (1u << (n))
#define BIT_ULL(n) (1ull << (n))

#include "mlx5_ifc.h"
int main(void) {
PROLOGUE
  for name in $structs; do
    awk -v name="$name" '
      $0 ~ "^struct mlx5_ifc_" name "_bits [{]" {
        inside = 1
        found = 1
        printf "printf(\"%s\\t.\\t0\\t%%zu\\n\", sizeof(struct mlx5_ifc_%s_bits));\n", name, name
        next
      }
      inside && /^}/ { inside = 0 }
      inside && /[{]/ { print name ": a struct or union without a name" > "/dev/stderr"; exit 1 }
      inside && /;/ && !/\[\]/ {
        line = $0
        sub(/;.*/, "", line)
        sub(/\[.*/, "", line)
        sub(/[ \t]+$/, "", line)
        sub(/.*[ \t]/, "", line)
        printf "printf(\"%s\\t%s\\t%%zu\\t%%zu\\n\", offsetof(struct mlx5_ifc_%s_bits, %s), sizeof(((struct mlx5_ifc_%s_bits*)0)->%s));\n", name, line, name, line, name, line
      }
      END { if (!found) { print "no struct " name > "/dev/stderr"; exit 1 } }
    ' "$header" || exit 1
  done
  echo 'return 0; }'
} >"$work/print.c"
${CC:-cc} -I"$1" -o "$work/print" "$work/print.c"
"$work/print"
