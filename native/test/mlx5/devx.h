// SPDX-License-Identifier: Apache-2.0
// What the files of libmlx5.so.1 share.
#ifndef GPUVERBS_TEST_MLX5_DEVX_H
#define GPUVERBS_TEST_MLX5_DEVX_H

#include "machine.h"

namespace standin {

// The context, which must have been opened for DEVX: the kernel has no user id else and says EINVAL. Null: refused.
Ctx* devx(const char* call, IbvContext* context);
// The object behind a handle. Null: refused.
Obj* object_of(const char* call, const void* pub);

} // namespace standin

#endif
