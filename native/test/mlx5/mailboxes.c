// SPDX-License-Identifier: Apache-2.0
// Mailboxes by rdma-core's DEVX_SET on the kernel's mlx5_ifc.h: nothing of the stand-in's own.
#include "mailboxes.h"

#include <stdbool.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
#define BIT(n) (1u << (n))
#define BIT_ULL(n) (1ull << (n))
#include "mlx5_ifc.h"

#define SET(s, p, field, v) DEVX_SET(s, p, field, v)
#define SET64(s, p, field, v) DEVX_SET64(s, p, field, v)
#define GET(s, p, field) DEVX_GET(s, p, field)
#define INSIDE(s, p, field) ((void*)DEVX_ADDR_OF(s, p, field))
#define SIZE(s) DEVX_ST_SZ_BYTES(s)
#define SET_BE32(p, v) (*(uint32_t*)(p) = htobe32(v))
#define SET_BE64(p, v) (*(uint64_t*)(p) = htobe64(v))

#include "mailboxes.def"
