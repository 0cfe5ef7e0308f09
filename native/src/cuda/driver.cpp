// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <dlfcn.h>

#include <cerrno>
#include <mutex>
#include <string>

namespace gpuverbs::cuda {

namespace {

struct Loaded {
  Driver table;
  bool usable = false;
  int32_t code = 0;
  int32_t detail = 0;
  std::string reason;
};

void refuse(Loaded& l, int32_t code, int32_t detail, const std::string& reason) {
  l.code = code;
  l.detail = detail;
  l.reason = reason;
}

void load(Loaded& l) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    return refuse(l, -ENODEV, 0,
                  std::string("no CUDA driver (") + (why != nullptr ? why : "libcuda.so.1 not found") +
                      "): install the NVIDIA driver, or start the container with --gpus all");
  }
#define GV_RESOLVE(name, symbol, parameters)                                      \
  l.table.name = reinterpret_cast<Result(*) parameters>(dlsym(library, #symbol)); \
  if (l.table.name == nullptr)                                                    \
    return refuse(l, -ENOSYS, 0, "the CUDA driver has no " #symbol ": update the NVIDIA driver to CUDA 11.8 or newer");
  GV_CUDA_FUNCTIONS(GV_RESOLVE)
#undef GV_RESOLVE
#define GV_RESOLVE(name, symbol, parameters) \
  l.table.name = reinterpret_cast<Result(*) parameters>(dlsym(library, #symbol));
  GV_CUDA_OPTIONAL(GV_RESOLVE)
#undef GV_RESOLVE
  const Result result = l.table.Init(0);
  int count = 0;
  if (result != kSuccess || l.table.DeviceGetCount(&count) != kSuccess || count == 0) {
    const char* name = nullptr;
    l.table.GetErrorName(result, &name);
    return refuse(l, -ENODEV, result,
                  result == kSuccess
                      ? std::string("the CUDA driver found no GPU: check CUDA_VISIBLE_DEVICES")
                      : std::string("cuInit failed with ") + (name != nullptr ? name : "an unknown error") +
                            ": check nvidia-smi and CUDA_VISIBLE_DEVICES");
  }
  l.usable = true;
}

} // namespace

const Driver* driver(gv_error* error, int32_t* code) {
  static Loaded loaded;
  static std::once_flag once;
  std::call_once(once, [] { load(loaded); });
  if (loaded.usable) return &loaded.table;
  *code = fail(error, loaded.code, loaded.detail, "%s", loaded.reason.c_str());
  return nullptr;
}

int32_t cuda_error(const Driver* d, gv_error* error, Result result, const char* what) {
  const char* name = nullptr;
  const char* text = nullptr;
  d->GetErrorName(result, &name);
  d->GetErrorString(result, &text);
  const int32_t code = result == kOutOfMemory ? -ENOMEM : result == kInvalidValue ? -EINVAL : -EIO;
  return fail(error, code, result, "%s: %s, %s", what, name != nullptr ? name : "unknown CUDA error",
              text != nullptr ? text : "");
}

} // namespace gpuverbs::cuda
