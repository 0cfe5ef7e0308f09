// SPDX-License-Identifier: Apache-2.0
// CUDA C++ to a cubin with NVRTC, opened at run time; modules and launches.
#include <dlfcn.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "gpu.h"

using namespace gpuverbs;
using namespace gpuverbs::cuda;

namespace {

using Program = void*;
using NvrtcResult = int;

#define GV_NVRTC_FUNCTIONS(X)                                                             \
  X(GetErrorString, nvrtcGetErrorString, const char*, (NvrtcResult))                      \
  X(Version, nvrtcVersion, NvrtcResult, (int*, int*))                                     \
  X(CreateProgram, nvrtcCreateProgram, NvrtcResult,                                       \
    (Program*, const char*, const char*, int, const char* const*, const char* const*))    \
  X(DestroyProgram, nvrtcDestroyProgram, NvrtcResult, (Program*))                         \
  X(CompileProgram, nvrtcCompileProgram, NvrtcResult, (Program, int, const char* const*)) \
  X(GetCubinSize, nvrtcGetCUBINSize, NvrtcResult, (Program, size_t*))                     \
  X(GetCubin, nvrtcGetCUBIN, NvrtcResult, (Program, char*))                               \
  X(GetLogSize, nvrtcGetProgramLogSize, NvrtcResult, (Program, size_t*))                  \
  X(GetLog, nvrtcGetProgramLog, NvrtcResult, (Program, char*))

struct Nvrtc {
#define GV_MEMBER(name, symbol, type, parameters) type(*name) parameters = nullptr;
  GV_NVRTC_FUNCTIONS(GV_MEMBER)
#undef GV_MEMBER
  std::string reason;
  bool usable = false;
};

void load(Nvrtc& n) {
  // The newest first: a library of a newer CUDA knows every older GPU that matters here.
  void* library = nullptr;
  for (const char* name :
       {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"}) {
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
  }
  if (library == nullptr) {
    n.reason = "no libnvrtc.so: install the CUDA toolkit's NVRTC (package cuda-nvrtc), or put it on LD_LIBRARY_PATH";
    return;
  }
#define GV_RESOLVE(name, symbol, type, parameters)                                         \
  n.name = reinterpret_cast<type(*) parameters>(dlsym(library, #symbol));                  \
  if (n.name == nullptr) {                                                                 \
    n.reason = "this libnvrtc.so has no " #symbol ": install NVRTC of CUDA 11.8 or newer"; \
    return;                                                                                \
  }
  GV_NVRTC_FUNCTIONS(GV_RESOLVE)
#undef GV_RESOLVE
  n.usable = true;
}

const Nvrtc* nvrtc(gv_error* error, int32_t* code) {
  static Nvrtc loaded;
  static std::once_flag once;
  std::call_once(once, [] { load(loaded); });
  if (loaded.usable) return &loaded;
  *code = fail(error, -ENOSYS, 0, "%s", loaded.reason.c_str());
  return nullptr;
}

void copy_log(const Nvrtc* n, Program program, char* log, uint32_t log_bytes) {
  if (log == nullptr || log_bytes == 0) return;
  size_t bytes = 0;
  log[0] = 0;
  if (n->GetLogSize(program, &bytes) != 0 || bytes == 0) return;
  std::vector<char> text(bytes + 1, 0);
  if (n->GetLog(program, text.data()) != 0) return;
  snprintf(log, log_bytes, "%s", text.data());
}

} // namespace

extern "C" int32_t gv_nvrtc_available(gv_error* error) {
  int32_t code = 0;
  return nvrtc(error, &code) != nullptr ? 0 : code;
}

extern "C" int32_t gv_compile(gv_gpu* gpu, const char* source, const char* name, const char* const* headers,
                              const char* const* header_names, uint32_t header_count, const char* const* options,
                              uint32_t option_count, uint64_t* image, uint64_t* image_bytes, char* log,
                              uint32_t log_bytes, gv_error* error) {
  int32_t code = 0;
  const Nvrtc* n = nvrtc(error, &code);
  if (n == nullptr) return code;
  int major = 0, minor = 0;
  gpu->driver->DeviceGetAttribute(&major, kComputeMajor, gpu->device);
  gpu->driver->DeviceGetAttribute(&minor, kComputeMinor, gpu->device);
  const std::string architecture = "--gpu-architecture=sm_" + std::to_string(major) + std::to_string(minor);
  std::vector<const char*> all = {architecture.c_str(), "--std=c++17"};
  for (uint32_t i = 0; i < option_count; i++) all.push_back(options[i]);

  Program program = nullptr;
  NvrtcResult result = n->CreateProgram(&program, source, name, static_cast<int>(header_count), headers, header_names);
  if (result != 0) return fail(error, -EINVAL, result, "nvrtcCreateProgram: %s", n->GetErrorString(result));
  result = n->CompileProgram(program, static_cast<int>(all.size()), all.data());
  copy_log(n, program, log, log_bytes);
  size_t bytes = 0;
  char* cubin = nullptr;
  if (result != 0) {
    code = fail(error, -EINVAL, result, "%s: NVRTC: %s", name, n->GetErrorString(result));
  } else if ((result = n->GetCubinSize(program, &bytes)) != 0 || bytes == 0) {
    code = fail(error, -EINVAL, result, "this NVRTC makes no code for sm_%d%d: install a newer one", major, minor);
  } else if ((cubin = static_cast<char*>(std::malloc(bytes))) == nullptr) {
    code = fail(error, -ENOMEM, 0, "no memory for %zu bytes of GPU code", bytes);
  } else if ((result = n->GetCubin(program, cubin)) != 0) {
    std::free(cubin);
    code = fail(error, -EIO, result, "nvrtcGetCUBIN: %s", n->GetErrorString(result));
  } else {
    *image = reinterpret_cast<uint64_t>(cubin);
    *image_bytes = bytes;
  }
  n->DestroyProgram(&program);
  return code;
}

extern "C" void gv_image_free(uint64_t image) { std::free(reinterpret_cast<void*>(image)); }

extern "C" int32_t gv_module_load(gv_gpu* gpu, uint64_t image, uint64_t* module, gv_error* error) {
  Module m = nullptr;
  const int32_t code = with(gpu, error, "cuModuleLoadData", [&](const Driver& t) {
    return t.ModuleLoadData(&m, reinterpret_cast<const void*>(image));
  });
  *module = reinterpret_cast<uint64_t>(m);
  return code;
}

extern "C" int32_t gv_module_unload(gv_gpu* gpu, uint64_t module, gv_error* error) {
  return with(gpu, error, "cuModuleUnload",
              [&](const Driver& t) { return t.ModuleUnload(reinterpret_cast<Module>(module)); });
}

extern "C" int32_t gv_module_function(gv_gpu* gpu, uint64_t module, const char* name, uint64_t* function,
                                      gv_error* error) {
  Function f = nullptr;
  const int32_t code = with(gpu, error, name, [&](const Driver& t) {
    const Result result = t.ModuleGetFunction(&f, reinterpret_cast<Module>(module), name);
    // Modules load lazily by default, and older drivers load at this call already.
    return result == kSuccess && t.FuncLoad != nullptr ? t.FuncLoad(f) : result;
  });
  *function = reinterpret_cast<uint64_t>(f);
  return code;
}

extern "C" int32_t gv_function_parameters(gv_gpu* gpu, uint64_t function, uint64_t* sizes, int32_t room,
                                          gv_error* error) {
  if (gpu->driver->FuncGetParamInfo == nullptr)
    return fail(error, -ENOSYS, 0, "the CUDA driver has no cuFuncGetParamInfo: update it to CUDA 12.4");
  int32_t count = 0;
  const int32_t code = with(gpu, error, "cuFuncGetParamInfo", [&](const Driver& t) {
    for (; count < room; count++) {
      size_t offset = 0, bytes = 0;
      const Result result =
          t.FuncGetParamInfo(reinterpret_cast<Function>(function), static_cast<size_t>(count), &offset, &bytes);
      if (result == kInvalidValue) break; // no such parameter
      if (result != kSuccess) return result;
      sizes[count] = bytes;
    }
    return kSuccess;
  });
  return code != 0 ? code : count;
}

extern "C" int32_t gv_launch(gv_gpu* gpu, uint64_t function, uint64_t stream, uint32_t grid_x, uint32_t grid_y,
                             uint32_t grid_z, uint32_t block_x, uint32_t block_y, uint32_t block_z,
                             uint32_t shared_bytes, void** args, gv_error* error) {
  return with(gpu, error, "cuLaunchKernel", [&](const Driver& t) {
    return t.LaunchKernel(reinterpret_cast<Function>(function), grid_x, grid_y, grid_z, block_x, block_y, block_z,
                          shared_bytes, reinterpret_cast<Stream>(stream), args, nullptr);
  });
}
