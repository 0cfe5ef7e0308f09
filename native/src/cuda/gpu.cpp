// SPDX-License-Identifier: Apache-2.0
// GPUs, their memory, streams and events.
#include "gpu.h"

#include <cerrno>
#include <cstring>
#include <new>

using namespace gpuverbs;
using namespace gpuverbs::cuda;

extern "C" int32_t gv_cuda_available(gv_error* error) {
  int32_t code = 0;
  return driver(error, &code) != nullptr ? 0 : code;
}

extern "C" int32_t gv_gpu_count(int32_t* count, gv_error* error) {
  int32_t code = 0;
  const Driver* d = driver(error, &code);
  if (d == nullptr) return code;
  const Result result = d->DeviceGetCount(count);
  return result == kSuccess ? 0 : cuda_error(d, error, result, "cuDeviceGetCount");
}

namespace {

int32_t device_of(int32_t ordinal, const Driver** d, Device* device, gv_error* error) {
  int32_t code = 0;
  *d = driver(error, &code);
  if (*d == nullptr) return code;
  int count = 0;
  (*d)->DeviceGetCount(&count);
  if (ordinal < 0 || ordinal >= count)
    return fail(error, -EINVAL, 0, "GPU %d: this machine has GPUs 0 to %d", ordinal, count - 1);
  const Result result = (*d)->DeviceGet(device, ordinal);
  return result == kSuccess ? 0 : cuda_error(*d, error, result, "cuDeviceGet");
}

int32_t make_gpu(const Driver* d, Context context, Device device, bool retained, gv_gpu** out, gv_error* error) {
  gv_gpu* gpu = new (std::nothrow) gv_gpu{d, context, device, retained, nullptr, {}};
  if (gpu == nullptr) return fail(error, -ENOMEM, 0, "no memory for a GPU handle");
  const int32_t code = with(gpu, error, "cuStreamCreate",
                            [&](const Driver& t) { return t.StreamCreate(&gpu->stream, kStreamNonBlocking); });
  if (code != 0) {
    delete gpu;
    return code;
  }
  *out = gpu;
  return 0;
}

} // namespace

extern "C" int32_t gv_gpu_info_of(int32_t ordinal, gv_gpu_info* out, gv_error* error) {
  const Driver* d;
  Device device;
  if (const int32_t code = device_of(ordinal, &d, &device, error)) return code;
  std::memset(out, 0, sizeof *out);
  out->ordinal = ordinal;
  size_t bytes = 0;
  Result result = d->DeviceGetName(out->name, sizeof out->name, device);
  if (result == kSuccess) result = d->DriverGetVersion(&out->driver_version);
  if (result == kSuccess) result = d->DeviceTotalMem(&bytes, device);
  if (result == kSuccess) result = d->DeviceGetAttribute(&out->compute_major, kComputeMajor, device);
  if (result == kSuccess) result = d->DeviceGetAttribute(&out->compute_minor, kComputeMinor, device);
  if (result == kSuccess) result = d->DeviceGetAttribute(&out->multiprocessors, kMultiprocessorCount, device);
  if (result == kSuccess) result = d->DeviceGetAttribute(&out->can_map_host_memory, kCanMapHostMemory, device);
  if (result != kSuccess) return cuda_error(d, error, result, "reading the GPU's attributes");
  // Newer attributes: an older driver doesn't know them, and then has neither.
  if (d->DeviceGetAttribute(&out->gpu_direct_rdma, kGpuDirectRdmaSupported, device) != kSuccess)
    out->gpu_direct_rdma = 0;
  if (d->DeviceGetAttribute(&out->writes_ordering, kGpuDirectRdmaWritesOrdering, device) != kSuccess)
    out->writes_ordering = 0;
  out->memory_bytes = bytes;
  return 0;
}

extern "C" int32_t gv_gpu_open(int32_t ordinal, gv_gpu** out, gv_error* error) {
  const Driver* d;
  Device device;
  if (const int32_t code = device_of(ordinal, &d, &device, error)) return code;
  Context context = nullptr;
  const Result result = d->PrimaryCtxRetain(&context, device);
  if (result != kSuccess) return cuda_error(d, error, result, "cuDevicePrimaryCtxRetain");
  const int32_t code = make_gpu(d, context, device, true, out, error);
  if (code != 0) d->PrimaryCtxRelease(device);
  return code;
}

extern "C" int32_t gv_gpu_borrow(uint64_t context, gv_gpu** out, gv_error* error) {
  int32_t code = 0;
  const Driver* d = driver(error, &code);
  if (d == nullptr) return code;
  if (context == 0)
    return fail(error, -EINVAL, 0, "the CUcontext is null: pass the context that the other library uses");
  Context previous = reinterpret_cast<Context>(context);
  Result result = d->CtxPushCurrent(previous);
  Device device = 0;
  if (result == kSuccess) {
    result = d->CtxGetDevice(&device);
    d->CtxPopCurrent(&previous);
  }
  if (result != kSuccess) return cuda_error(d, error, result, "using the given CUcontext");
  return make_gpu(d, reinterpret_cast<Context>(context), device, false, out, error);
}

extern "C" uint64_t gv_gpu_context(gv_gpu* gpu) { return reinterpret_cast<uint64_t>(gpu->context); }

extern "C" int32_t gv_gpu_ordinal(gv_gpu* gpu) { return gpu->device; }

extern "C" void gv_gpu_close(gv_gpu* gpu) {
  if (gpu == nullptr) return;
  with(gpu, nullptr, "cuStreamDestroy", [&](const Driver& t) { return t.StreamDestroy(gpu->stream); });
  if (gpu->retained) gpu->driver->PrimaryCtxRelease(gpu->device);
  delete gpu;
}

extern "C" int32_t gv_gpu_health(gv_gpu* gpu, gv_error* error) {
  // A sticky error comes back from any call that looks at the context's work.
  return with(gpu, error, "the GPU's context is dead", [&](const Driver& t) {
    const Result result = t.StreamQuery(gpu->stream);
    return result == kNotReady ? kSuccess : result;
  });
}

extern "C" int32_t gv_gpu_synchronize(gv_gpu* gpu, gv_error* error) {
  return with(gpu, error, "cuCtxSynchronize", [](const Driver& t) { return t.CtxSynchronize(); });
}

extern "C" int32_t gv_gpu_allocate(gv_gpu* gpu, uint64_t bytes, int32_t kind, uint64_t* address, gv_error* error) {
  if (bytes == 0) return fail(error, -EINVAL, 0, "0 bytes: allocate at least one");
  if (kind == GV_MEMORY_DEVICE) {
    Pointer p = 0;
    const int32_t code = with(gpu, error, "cuMemAlloc", [&](const Driver& t) { return t.MemAlloc(&p, bytes); });
    *address = p;
    return code;
  }
  if (kind == GV_MEMORY_PINNED) {
    void* p = nullptr;
    const int32_t code = with(gpu, error, "cuMemHostAlloc", [&](const Driver& t) {
      return t.MemHostAlloc(&p, bytes, kHostPortable | kHostDeviceMap);
    });
    *address = reinterpret_cast<uint64_t>(p);
    return code;
  }
  return fail(error, -EINVAL, 0, "memory kind %d can't be allocated: use device or pinned memory", kind);
}

extern "C" int32_t gv_gpu_free(gv_gpu* gpu, uint64_t address, int32_t kind, gv_error* error) {
  if (address == 0) return 0;
  if (kind == GV_MEMORY_DEVICE)
    return with(gpu, error, "cuMemFree", [&](const Driver& t) { return t.MemFree(address); });
  return with(gpu, error, "cuMemFreeHost",
              [&](const Driver& t) { return t.MemFreeHost(reinterpret_cast<void*>(address)); });
}

extern "C" int32_t gv_gpu_describe(gv_gpu* gpu, uint64_t address, gv_pointer_info* out, gv_error* error) {
  std::memset(out, 0, sizeof *out);
  out->kind = GV_MEMORY_UNKNOWN;
  out->ordinal = -1;
  return with(gpu, error, "cuPointerGetAttribute", [&](const Driver& t) {
    unsigned type = 0;
    // The driver doesn't know the address: plain host memory, or freed. An answer, not an error.
    if (t.PointerGetAttribute(&type, kPointerMemoryType, address) != kSuccess) return kSuccess;
    unsigned managed = 0;
    int ordinal = -1;
    void* pool = nullptr;
    unsigned char direct = 0;
    size_t bytes = 0;
    t.PointerGetAttribute(&managed, kPointerIsManaged, address);
    t.PointerGetAttribute(&ordinal, kPointerOrdinal, address);
    t.PointerGetAttribute(&out->context, kPointerContext, address);
    t.PointerGetAttribute(&out->base, kPointerRangeStart, address);
    if (t.PointerGetAttribute(&bytes, kPointerRangeSize, address) == kSuccess) out->bytes = bytes;
    if (t.PointerGetAttribute(&pool, kPointerMempool, address) != kSuccess) pool = nullptr;
    if (t.PointerGetAttribute(&direct, kPointerIsGpuDirectCapable, address) == kSuccess)
      out->gpu_direct_rdma = direct != 0;
    out->ordinal = ordinal;
    out->kind = managed != 0      ? GV_MEMORY_MANAGED
                : pool != nullptr ? GV_MEMORY_POOL
                : type == 1       ? GV_MEMORY_PINNED
                                  : GV_MEMORY_DEVICE;
    return kSuccess;
  });
}

extern "C" int32_t gv_gpu_copy(gv_gpu* gpu, uint64_t to, uint64_t from, uint64_t bytes, gv_error* error) {
  if (bytes == 0) return 0;
  std::lock_guard<std::mutex> lock(gpu->copying);
  return with(gpu, error, "cuMemcpyAsync", [&](const Driver& t) {
    const Result result = t.MemcpyAsync(to, from, bytes, gpu->stream);
    return result == kSuccess ? t.StreamSynchronize(gpu->stream) : result;
  });
}

extern "C" int32_t gv_gpu_fill(gv_gpu* gpu, uint64_t address, uint32_t byte, uint64_t bytes, gv_error* error) {
  if (bytes == 0) return 0;
  std::lock_guard<std::mutex> lock(gpu->copying);
  return with(gpu, error, "cuMemsetD8Async", [&](const Driver& t) {
    const Result result = t.MemsetD8Async(address, static_cast<unsigned char>(byte), bytes, gpu->stream);
    return result == kSuccess ? t.StreamSynchronize(gpu->stream) : result;
  });
}

extern "C" int32_t gv_stream_create(gv_gpu* gpu, uint64_t* stream, gv_error* error) {
  Stream s = nullptr;
  const int32_t code =
      with(gpu, error, "cuStreamCreate", [&](const Driver& t) { return t.StreamCreate(&s, kStreamNonBlocking); });
  *stream = reinterpret_cast<uint64_t>(s);
  return code;
}

extern "C" int32_t gv_stream_destroy(gv_gpu* gpu, uint64_t stream, gv_error* error) {
  return with(gpu, error, "cuStreamDestroy",
              [&](const Driver& t) { return t.StreamDestroy(reinterpret_cast<Stream>(stream)); });
}

namespace {

// 0, 1 for "not yet", or an error.
template <class F>
int32_t query(gv_gpu* gpu, gv_error* error, const char* what, F ask) {
  bool pending = false;
  const int32_t code = with(gpu, error, what, [&](const Driver& t) {
    const Result result = ask(t);
    pending = result == kNotReady;
    return pending ? kSuccess : result;
  });
  return code != 0 ? code : pending ? 1 : 0;
}

} // namespace

extern "C" int32_t gv_stream_query(gv_gpu* gpu, uint64_t stream, gv_error* error) {
  return query(gpu, error, "cuStreamQuery",
               [&](const Driver& t) { return t.StreamQuery(reinterpret_cast<Stream>(stream)); });
}

extern "C" int32_t gv_stream_check(gv_gpu* gpu, uint64_t stream, gv_error* error) {
  int capturing = 0;
  int32_t code = with(gpu, error, "cuStreamIsCapturing", [&](const Driver& t) {
    const Result result = t.StreamIsCapturing(reinterpret_cast<Stream>(stream), &capturing);
    // The default stream can't be told while a stream that waits for it captures.
    if (result != kStreamCaptureImplicit) return result;
    capturing = 1;
    return kSuccess;
  });
  if (code != 0) return code;
  if (capturing != 0)
    return fail(error, -EBUSY, 0, "the stream is capturing a graph: end the capture, or use another stream");
  if (stream <= 2) return 0; // CUDA's default streams belong to whichever context is current
  Context owner = nullptr;
  code = with(gpu, error, "cuStreamGetCtx",
              [&](const Driver& t) { return t.StreamGetCtx(reinterpret_cast<Stream>(stream), &owner); });
  if (code != 0) return code;
  if (owner != gpu->context)
    return fail(error, -EINVAL, 0, "the stream belongs to another CUDA context: use Gpu.of with that context");
  return 0;
}

extern "C" int32_t gv_stream_copy(gv_gpu* gpu, uint64_t stream, uint64_t to, uint64_t from, uint64_t bytes,
                                  gv_error* error) {
  if (bytes == 0) return 0;
  return with(gpu, error, "cuMemcpyAsync",
              [&](const Driver& t) { return t.MemcpyAsync(to, from, bytes, reinterpret_cast<Stream>(stream)); });
}

extern "C" int32_t gv_copy_start(gv_gpu* gpu, uint64_t stream, uint64_t to, uint64_t from, uint64_t bytes) {
  return gv_stream_copy(gpu, stream, to, from, bytes, nullptr);
}

extern "C" int32_t gv_event_create(gv_gpu* gpu, uint64_t* event, gv_error* error) {
  Event e = nullptr;
  const int32_t code =
      with(gpu, error, "cuEventCreate", [&](const Driver& t) { return t.EventCreate(&e, kEventDisableTiming); });
  *event = reinterpret_cast<uint64_t>(e);
  return code;
}

extern "C" int32_t gv_event_destroy(gv_gpu* gpu, uint64_t event, gv_error* error) {
  return with(gpu, error, "cuEventDestroy",
              [&](const Driver& t) { return t.EventDestroy(reinterpret_cast<Event>(event)); });
}

extern "C" int32_t gv_event_record(gv_gpu* gpu, uint64_t event, uint64_t stream, gv_error* error) {
  return with(gpu, error, "cuEventRecord", [&](const Driver& t) {
    return t.EventRecord(reinterpret_cast<Event>(event), reinterpret_cast<Stream>(stream));
  });
}

extern "C" int32_t gv_event_query(gv_gpu* gpu, uint64_t event, gv_error* error) {
  return query(gpu, error, "cuEventQuery",
               [&](const Driver& t) { return t.EventQuery(reinterpret_cast<Event>(event)); });
}
