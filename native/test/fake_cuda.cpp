// SPDX-License-Identifier: Apache-2.0
// A libcuda.so.1 without a GPU, for tests of what surrounds the kernels: "GPU memory" is host memory, every call is done when it
// returns, and launching a built-in submit kernel runs the host's twin of it. It knows no other kernels. A test may hold a stream
// (fake_hold), let it go on (fake_release) and break the context (fake_fail); captures follow the driver's rules.
//
//   g++ -std=c++17 -O2 -shared -fPIC -Iinclude -Isrc test/fake_cuda.cpp -o DIR/libcuda.so.1; LD_LIBRARY_PATH=DIR java ...
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "batch.h"

using namespace gpuverbs;

namespace {

constexpr int kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kNotFound = 500, kNotReady = 600, kLaunchFailed = 719,
              kNotPermitted = 800, kNotSupported = 801, kCaptureUnsupported = 900, kCaptureInvalidated = 901;
constexpr size_t kMemory = 1ull << 30;
constexpr int kHost = 1, kDevice = 2;

struct Block {
  size_t bytes;
  int type;
};

std::mutex lock;
std::map<uint64_t, Block> blocks;
std::set<std::string> functions;
std::set<uint64_t> registered;        // by cuMemHostRegister
std::map<uint64_t, uint64_t> dmabufs; // inode of what stands for a dma-buf: its memory
bool refuses_io_memory = false;
bool refuses_dmabuf = false;
thread_local void* current = nullptr;
int a_context;

// Work in its order: a function to run, or empty for what a test holds.
struct FakeStream {
  std::deque<std::function<void()>> work;
  uint64_t enqueued = 0;
  uint64_t completed = 0;
  bool capturing = false;
};

struct FakeEvent {
  FakeStream* stream = nullptr;
  uint64_t mark = 0;
};

constexpr int kGlobal = 0, kRelaxed = 2;
FakeStream default_streams[3];
bool failed = false;
int global_captures = 0;
bool spoilt = false;
thread_local int capture_mode = kGlobal;

FakeStream* stream_of(void* s) {
  const auto number = reinterpret_cast<uintptr_t>(s);
  return number < 3 ? &default_streams[number] : static_cast<FakeStream*>(s);
}

// What no thread may do while any captures in global mode, unless it is in relaxed mode itself.
bool forbidden() {
  if (global_captures == 0 || capture_mode == kRelaxed) return false;
  spoilt = true;
  return true;
}

// With the lock held.
void go_on(FakeStream* s) {
  while (!s->work.empty() && s->work.front()) {
    s->work.front()();
    s->work.pop_front();
    s->completed++;
  }
}

int state(const FakeStream* s, uint64_t mark) {
  if (s->completed >= mark) return kSuccess;
  return failed ? kLaunchFailed : kNotReady;
}

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
FAKE cuGetErrorName(int e, const char** s) {
  return *s = e == kLaunchFailed ? "CUDA_ERROR_LAUNCH_FAILED" : "FAKE_CUDA_ERROR", kSuccess;
}
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
FAKE cuCtxSynchronize() { return failed ? kLaunchFailed : kSuccess; }
FAKE cuMemAlloc_v2(uint64_t* p, size_t n) {
  return failed ? kLaunchFailed : forbidden() ? kCaptureUnsupported : allocate(p, n, kDevice);
}
FAKE cuMemFree_v2(uint64_t p) { return release(p); }
FAKE cuMemHostAlloc(void** p, size_t n, unsigned) { return allocate(reinterpret_cast<uint64_t*>(p), n, kHost); }
FAKE cuMemFreeHost(void* p) { return release(reinterpret_cast<uint64_t>(p)); }
FAKE cuMemHostRegister_v2(void* p, size_t, unsigned flags) {
  constexpr unsigned kIoMemory = 4; // CU_MEMHOSTREGISTER_IOMEMORY
  std::lock_guard<std::mutex> held(lock);
  if ((flags & kIoMemory) != 0 && refuses_io_memory) return kNotPermitted;
  return registered.insert(reinterpret_cast<uint64_t>(p)).second ? kSuccess : kInvalidValue;
}
FAKE cuMemHostUnregister(void* p) {
  std::lock_guard<std::mutex> held(lock);
  return registered.erase(reinterpret_cast<uint64_t>(p)) == 1 ? kSuccess : kInvalidValue;
}
FAKE cuMemHostGetDevicePointer_v2(uint64_t* out, void* p, unsigned) {
  return *out = reinterpret_cast<uint64_t>(p), kSuccess;
}
// A file descriptor like a dma-buf's; nobody maps it, since fake_dmabuf tells where the memory is.
FAKE cuMemGetHandleForAddressRange(void* out, uint64_t p, size_t n, int type, unsigned long long) {
  constexpr int kDmaBuf = 1; // CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD
  std::lock_guard<std::mutex> held(lock);
  if (type != kDmaBuf || refuses_dmabuf) return kNotSupported;
  if (p % 4096 != 0 || n % 4096 != 0) return kInvalidValue; // the host's page size
  const int fd = memfd_create("fake dma-buf", MFD_CLOEXEC);
  struct stat about;
  if (fd < 0 || fstat(fd, &about) != 0) return kOutOfMemory;
  dmabufs[about.st_ino] = p;
  *static_cast<int*>(out) = fd;
  return kSuccess;
}
FAKE cuPointerSetAttribute(const void*, int, uint64_t) { return kSuccess; }
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
FAKE cuStreamCreate(void** s, unsigned) { return *s = new FakeStream, kSuccess; }
FAKE cuStreamDestroy_v2(void* s) { return delete static_cast<FakeStream*>(s), kSuccess; }
FAKE cuStreamQuery(void* s) {
  std::lock_guard<std::mutex> held(lock);
  FakeStream* stream = stream_of(s);
  if (stream->capturing) spoilt = true;
  if (forbidden() || stream->capturing) return kCaptureUnsupported;
  return failed ? kLaunchFailed : state(stream, stream->enqueued);
}
FAKE cuStreamSynchronize(void*) { return failed ? kLaunchFailed : kSuccess; }
FAKE cuStreamGetCtx(void*, void** c) { return *c = &a_context, kSuccess; }
FAKE cuStreamIsCapturing(void* s, int* v) { return *v = stream_of(s)->capturing ? 1 : 0, kSuccess; }
FAKE cuStreamBeginCapture_v2(void* s, int mode) {
  std::lock_guard<std::mutex> held(lock);
  stream_of(s)->capturing = true;
  global_captures += mode == kGlobal ? 1 : 0;
  spoilt = false;
  return kSuccess;
}
FAKE cuStreamEndCapture(void* s, void** graph) {
  std::lock_guard<std::mutex> held(lock);
  stream_of(s)->capturing = false;
  global_captures = 0;
  *graph = spoilt ? nullptr : &a_context;
  return spoilt ? kCaptureInvalidated : kSuccess;
}
FAKE cuGraphDestroy(void*) { return kSuccess; }
FAKE cuThreadExchangeStreamCaptureMode(int* mode) {
  std::swap(capture_mode, *mode);
  return kSuccess;
}
FAKE cuEventCreate(void** e, unsigned) {
  std::lock_guard<std::mutex> held(lock);
  if (forbidden()) return kCaptureUnsupported;
  return *e = new FakeEvent, kSuccess;
}
FAKE cuEventDestroy_v2(void* e) { return delete static_cast<FakeEvent*>(e), kSuccess; }
FAKE cuEventRecord(void* e, void* s) {
  std::lock_guard<std::mutex> held(lock);
  if (failed) return kLaunchFailed;
  *static_cast<FakeEvent*>(e) = {stream_of(s), stream_of(s)->enqueued};
  return kSuccess;
}
FAKE cuEventQuery(void* e) {
  std::lock_guard<std::mutex> held(lock);
  if (forbidden()) return kCaptureUnsupported;
  const auto* event = static_cast<const FakeEvent*>(e);
  return event->stream == nullptr ? kSuccess : state(event->stream, event->mark);
}
FAKE cuModuleLoadData(void** m, const void*) { return *m = &a_context, kSuccess; }
FAKE cuModuleUnload(void*) { return kSuccess; }
FAKE cuModuleGetFunction(void** f, void*, const char* name) {
  if (std::strncmp(name, "gv_submit_", 10) != 0) return kNotFound;
  std::lock_guard<std::mutex> held(lock);
  *f = const_cast<char*>(functions.insert(name).first->c_str());
  return kSuccess;
}
FAKE cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void* s, void** args,
                    void**) {
  std::lock_guard<std::mutex> held(lock);
  if (failed) return kLaunchFailed;
  gv_sq* sq = *static_cast<gv_sq**>(args[0]);
  const SubmitBatch batch{sq, *static_cast<gv_request**>(args[1]), *static_cast<uint64_t**>(args[2]),
                          *static_cast<uint32_t*>(args[3]), *static_cast<uint64_t*>(args[5])};
  FakeStream* stream = stream_of(s);
  stream->enqueued++;
  stream->work.push_back([sq, batch] { with_policy(sq, SubmitBatch(batch)); });
  go_on(stream);
  return kSuccess;
}

// Work that a test ends.
FAKE fake_hold(void* s) {
  std::lock_guard<std::mutex> held(lock);
  FakeStream* stream = stream_of(s);
  stream->enqueued++;
  stream->work.emplace_back();
  return kSuccess;
}
// Ends the oldest work that is held.
FAKE fake_release(void* s) {
  std::lock_guard<std::mutex> held(lock);
  FakeStream* stream = stream_of(s);
  if (stream->work.empty()) return kInvalidValue;
  stream->work.pop_front();
  stream->completed++;
  go_on(stream);
  return kSuccess;
}
// What drivers without PeerMappingOverride say to a NIC's registers.
FAKE fake_refuse_io_memory(int yes) {
  std::lock_guard<std::mutex> held(lock);
  return refuses_io_memory = yes != 0, kSuccess;
}
FAKE fake_refuse_dmabuf(int yes) {
  std::lock_guard<std::mutex> held(lock);
  return refuses_dmabuf = yes != 0, kSuccess;
}
// How many registrations of host memory are left.
FAKE fake_registered() {
  std::lock_guard<std::mutex> held(lock);
  return static_cast<int>(registered.size());
}
// Whether an address is GPU memory: what a NIC without peermem can't reach.
FAKE fake_is_device(uint64_t p) {
  std::lock_guard<std::mutex> held(lock);
  auto at = blocks.upper_bound(p);
  if (at == blocks.begin()) return 0;
  --at;
  return p < at->first + at->second.bytes && at->second.type == kDevice ? 1 : 0;
}
// Where a dma-buf's memory begins; 0 if it is none of this driver's.
extern "C" __attribute__((visibility("default"))) uint64_t fake_dmabuf(int fd) {
  std::lock_guard<std::mutex> held(lock);
  struct stat about;
  if (fstat(fd, &about) != 0) return 0;
  const auto at = dmabufs.find(about.st_ino);
  return at == dmabufs.end() ? 0 : at->second;
}
// A fault: what is not done never will be.
FAKE fake_fail() {
  std::lock_guard<std::mutex> held(lock);
  failed = true;
  return kSuccess;
}
