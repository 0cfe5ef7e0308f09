// SPDX-License-Identifier: Apache-2.0
#ifndef GPUVERBS_SRC_ERROR_H
#define GPUVERBS_SRC_ERROR_H

#include <cstdarg>
#include <cstdio>

#include "gpuverbs.h"

namespace gpuverbs {

// Fills `error`, where there is one, and returns `code`: `return fail(error, -EINVAL, 0, "...")`.
__attribute__((format(printf, 4, 5))) inline int32_t fail(gv_error* error, int32_t code, int32_t detail,
                                                          const char* format, ...) {
  if (error != nullptr) {
    error->code = code;
    error->detail = detail;
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
  }
  return code;
}

} // namespace gpuverbs

#endif
