// SPDX-License-Identifier: Apache-2.0
#include "library.h"

#include <dlfcn.h>

#include <cerrno>
#include <cstring>

namespace gpuverbs::verbs {

namespace {

struct Opened {
  Library table;
  int32_t code = 0;
  char text[200] = "";

  Opened() {
    void* handle = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      code = -ENODEV;
      snprintf(text, sizeof text, "libibverbs.so.1 can't be opened: install libibverbs1 and ibverbs-providers");
      return;
    }
#define GV_LOAD(name, symbol, result, parameters)                                                 \
  if (void* found = dlsym(handle, #symbol)) {                                                     \
    memcpy(&table.name, &found, sizeof found);                                                    \
  } else if (code == 0) {                                                                         \
    code = -ENOSYS;                                                                               \
    snprintf(text, sizeof text, "libibverbs.so.1 has no " #symbol ": install a newer rdma-core"); \
  }
    GV_VERBS_FUNCTIONS(GV_LOAD)
#undef GV_LOAD
  }
};

} // namespace

const Library* library(gv_error* error) {
  static const Opened opened; // never closed: providers keep threads and at-exit handlers
  if (opened.code == 0) return &opened.table;
  fail(error, opened.code, 0, "%s", opened.text);
  return nullptr;
}

} // namespace gpuverbs::verbs
