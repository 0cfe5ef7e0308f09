// SPDX-License-Identifier: Apache-2.0
#include "mlx5_library.h"

#include <dlfcn.h>

#include <cerrno>
#include <cstring>

#include "mlx5.h"

namespace gpuverbs::verbs {

namespace {

struct Opened {
  Mlx5Library table;
  int32_t code = 0;
  char text[200] = "";

  Opened() {
    void* verbs = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
    void* mlx5 = dlopen("libmlx5.so.1", RTLD_NOW | RTLD_LOCAL);
    if (mlx5 == nullptr || verbs == nullptr) {
      code = -ENODEV;
      snprintf(text, sizeof text, "libmlx5.so.1 can't be opened: install ibverbs-providers");
      return;
    }
#define GV_LOAD_FROM(library, name, symbol)                                                      \
  if (void* found = dlsym(library, #symbol)) {                                                   \
    memcpy(&table.name, &found, sizeof found);                                                   \
  } else if (code == 0) {                                                                        \
    code = -ENOSYS;                                                                              \
    snprintf(text, sizeof text, #symbol " is missing: path DIRECT needs rdma-core 35 or newer"); \
  }
#define GV_LOAD(name, symbol, result, parameters) GV_LOAD_FROM(mlx5, name, symbol)
    GV_MLX5_FUNCTIONS(GV_LOAD)
#undef GV_LOAD
#define GV_LOAD(name, symbol, result, parameters) GV_LOAD_FROM(verbs, name, symbol)
    GV_MLX5_VERBS_FUNCTIONS(GV_LOAD)
#undef GV_LOAD
#define GV_LOAD(name, symbol, result, parameters) \
  if (void* found = dlsym(verbs, #symbol)) memcpy(&table.name, &found, sizeof found);
    GV_MLX5_OPTIONAL(GV_LOAD)
#undef GV_LOAD
#undef GV_LOAD_FROM
  }
};

} // namespace

const Mlx5Library* mlx5_library(gv_error* error) {
  static const Opened opened; // never closed, as libibverbs
  if (opened.code == 0) return &opened.table;
  fail(error, opened.code, 0, "%s", opened.text);
  return nullptr;
}

namespace mlx5 {

int32_t refused(gv_error* error, const char* what, int result, const uint8_t* out, const char* fix) {
  const int why = failure(result);
  const uint32_t status = out == nullptr ? 0 : get(out, kStatus);
  if (status != 0)
    return fail(error, -EREMOTEIO, why, "%s: the firmware refused it (status 0x%02x, syndrome 0x%08x): %s", what,
                status, get(out, kSyndrome), fix);
  return fail(error, -why, why, "%s: %s", what, fix);
}

} // namespace mlx5

} // namespace gpuverbs::verbs
