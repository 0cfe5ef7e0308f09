// SPDX-License-Identifier: Apache-2.0
// A libcuda.so.1 without a GPU, for tests of what surrounds the kernels: "GPU memory" is host memory, every call is done when it
// returns, and launching a built-in submit kernel runs the host's twin of it. It knows no other kernels.
//
//   g++ -std=c++17 -O2 -shared -fPIC -Iinclude -Isrc test/fake_cuda.cpp -o DIR/libcuda.so.1; LD_LIBRARY_PATH=DIR java ...
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "batch.h"

using namespace gpuverbs;

namespace {

constexpr int kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kNotFound = 500;
constexpr size_t kMemory = 1ull << 30;
constexpr int kHost = 1, kDevice = 2;

struct Block {
  size_t bytes;
  int type;
};

std::mutex lock;
std::map<uint64_t, Block> blocks;
std::set<std::string> functions;
thread_local void* current = nullptr;
int a_context;

int allocate(uint64_t* out, size_t bytes, int type) {
  if (bytes > kMemory) return kOutOfMemory;
  void* p = std::aligned_alloc(4096, (bytes + 4095) & ~size_t{4095});
  if (p == nullptr) return kOutOfMemory;
  std::lock_guard<std::mutex> held(lock);
  blocks[reinterpret_cast<uint64_t>(p)] = {bytes, type};
  *out = reinterpret_cast<uint64_t>(p);
  return kSuccess;
}

int release(uint64_t address) {
  std::lock_guard<std::mutex> held(lock);
  if (blocks.erase(address) == 0) return kInvalidValue;
  std::free(reinterpret_cast<void*>(address));
  return kSuccess;
}

struct SubmitBatch {
  gv_sq* sq;
  const gv_request* requests;
  const uint64_t* starts;
  uint32_t count;
  uint64_t end;

  template <uint32_t H, uint32_t M>
  int64_t operator()() {
    constexpr uint32_t P = H == GV_HANDOVER_EXCLUSIVE ? GV_HANDOVER_TURN_CAS : H;
    Queue q = view_of(sq);
    if (sq->resv_head < end) sq->resv_head = end;
    const uint32_t groups = (count + GV_GROUP_REQUESTS - 1) / GV_GROUP_REQUESTS;
    for (uint32_t g = 0; g < groups; g++) {
      const uint32_t first = g * GV_GROUP_REQUESTS;
      const uint32_t left = count - first;
      const uint64_t next = g + 1 < groups ? starts[g + 1] : end;
      run_group<P, M>(q, requests,
                      Group{first, left < GV_GROUP_REQUESTS ? left : GV_GROUP_REQUESTS, starts[g], next, true});
    }
    return 0;
  }
};

} // namespace

#define FAKE extern "C" __attribute__((visibility("default"))) int

FAKE cuInit(unsigned) { return kSuccess; }
FAKE cuDriverGetVersion(int* v) { return *v = 13000, kSuccess; }
FAKE cuGetErrorName(int, const char** s) { return *s = "FAKE_CUDA_ERROR", kSuccess; }
FAKE cuGetErrorString(int, const char** s) { return *s = "no GPU, a fake driver", kSuccess; }
FAKE cuDeviceGet(int* d, int ordinal) { return *d = ordinal, kSuccess; }
FAKE cuDeviceGetCount(int* n) { return *n = 1, kSuccess; }
FAKE cuDeviceGetName(char* name, int n, int) { return std::strncpy(name, "Fake GPU", n), kSuccess; }
FAKE cuDeviceTotalMem_v2(size_t* n, int) { return *n = kMemory, kSuccess; }
FAKE cuDeviceGetAttribute(int* v, int attribute, int) {
  *v = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 16 ? 2 : 1;
  return kSuccess;
}
FAKE cuDevicePrimaryCtxRetain(void** c, int) { return *c = &a_context, kSuccess; }
FAKE cuDevicePrimaryCtxRelease_v2(int) { return kSuccess; }
FAKE cuCtxPushCurrent_v2(void* c) { return current = c, kSuccess; }
FAKE cuCtxPopCurrent_v2(void** c) { return *c = current, kSuccess; }
FAKE cuCtxGetDevice(int* d) { return *d = 0, kSuccess; }
FAKE cuCtxSynchronize() { return kSuccess; }
FAKE cuMemAlloc_v2(uint64_t* p, size_t n) { return allocate(p, n, kDevice); }
FAKE cuMemFree_v2(uint64_t p) { return release(p); }
FAKE cuMemHostAlloc(void** p, size_t n, unsigned) { return allocate(reinterpret_cast<uint64_t*>(p), n, kHost); }
FAKE cuMemFreeHost(void* p) { return release(reinterpret_cast<uint64_t>(p)); }
FAKE cuMemcpyAsync(uint64_t to, uint64_t from, size_t n, void*) {
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), n);
  return kSuccess;
}
FAKE cuMemsetD8Async(uint64_t p, unsigned char v, size_t n, void*) {
  std::memset(reinterpret_cast<void*>(p), v, n);
  return kSuccess;
}
FAKE cuPointerGetAttribute(void* out, int attribute, uint64_t p) {
  std::lock_guard<std::mutex> held(lock);
  auto at = blocks.upper_bound(p);
  if (at == blocks.begin()) return kInvalidValue;
  --at;
  if (p >= at->first + at->second.bytes) return kInvalidValue;
  switch (attribute) {
    case 2:
      *static_cast<unsigned*>(out) = static_cast<unsigned>(at->second.type);
      return kSuccess;
    case 8:
      *static_cast<unsigned*>(out) = 0;
      return kSuccess;
    case 9:
      *static_cast<int*>(out) = 0;
      return kSuccess;
    case 11:
      *static_cast<uint64_t*>(out) = at->first;
      return kSuccess;
    case 12:
      *static_cast<size_t*>(out) = at->second.bytes;
      return kSuccess;
    default:
      return kInvalidValue;
  }
}
FAKE cuStreamCreate(void** s, unsigned) { return *s = std::malloc(1), kSuccess; }
FAKE cuStreamDestroy_v2(void* s) { return std::free(s), kSuccess; }
FAKE cuStreamQuery(void*) { return kSuccess; }
FAKE cuStreamSynchronize(void*) { return kSuccess; }
FAKE cuStreamGetCtx(void*, void** c) { return *c = &a_context, kSuccess; }
FAKE cuStreamIsCapturing(void*, int* v) { return *v = 0, kSuccess; }
FAKE cuEventCreate(void** e, unsigned) { return *e = std::malloc(1), kSuccess; }
FAKE cuEventDestroy_v2(void* e) { return std::free(e), kSuccess; }
FAKE cuEventRecord(void*, void*) { return kSuccess; }
FAKE cuEventQuery(void*) { return kSuccess; }
FAKE cuModuleLoadData(void** m, const void*) { return *m = &a_context, kSuccess; }
FAKE cuModuleUnload(void*) { return kSuccess; }
FAKE cuModuleGetFunction(void** f, void*, const char* name) {
  if (std::strncmp(name, "gv_submit_", 10) != 0) return kNotFound;
  std::lock_guard<std::mutex> held(lock);
  *f = const_cast<char*>(functions.insert(name).first->c_str());
  return kSuccess;
}
FAKE cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void** args,
                    void**) {
  gv_sq* sq = *static_cast<gv_sq**>(args[0]);
  with_policy(sq, SubmitBatch{sq, *static_cast<gv_request**>(args[1]), *static_cast<uint64_t**>(args[2]),
                              *static_cast<uint32_t*>(args[3]), *static_cast<uint64_t*>(args[5])});
  return kSuccess;
}
