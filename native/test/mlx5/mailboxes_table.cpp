// SPDX-License-Identifier: Apache-2.0
// Mailboxes by the table, where the kernel's header or rdma-core's is not installed.
#include <endian.h>

#include <cstring>

#include "fields.h"
#include "mailboxes.h"

using standin::View;

#define SET(s, p, field, v) View(#s, p).set(#field, static_cast<uint64_t>(v))
#define SET64(s, p, field, v) View(#s, p).set(#field, v)
#define GET(s, p, field) View(#s, p).get(#field)
#define INSIDE(s, p, field) (static_cast<void*>(View(#s, p).at(#field)))
#define SIZE(s) standin::bytes_of(#s)
#define SET_BE32(p, v) (*reinterpret_cast<uint32_t*>(p) = htobe32(v))
#define SET_BE64(p, v) (*reinterpret_cast<uint64_t*>(p) = htobe64(v))

#include "mailboxes.def"
