// SPDX-License-Identifier: Apache-2.0
#include "gpuverbs.h"

#ifndef GV_VERSION
#define GV_VERSION "unversioned"
#endif

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the encoder's byte swaps assume a little-endian host");

extern "C" int32_t gv_abi_version(void) { return GV_ABI_VERSION; }

extern "C" const char* gv_version(void) { return GV_VERSION; }
