// SPDX-License-Identifier: Apache-2.0
// What a NIC and a GPU share: doorbell registers that kernels ring, GPU memory that the NIC reaches.
#include <cerrno>

#include "gpu.h"

namespace gpuverbs::cuda {

int32_t map_io(gv_gpu* gpu, uint64_t page, uint64_t bytes, uint64_t* device, gv_error* error) {
  const Driver* d = gpu->driver;
  if (d->MemHostRegister == nullptr || d->MemHostGetDevicePointer == nullptr || d->MemHostUnregister == nullptr)
    return fail(error, -ENOSYS, 0, "the CUDA driver has no cuMemHostRegister");
  void* at = reinterpret_cast<void*>(page);
  if (const int32_t code = with(gpu, error, "cuMemHostRegister of the UAR", [&](const Driver& t) {
        return t.MemHostRegister(at, bytes, kHostPortable | kHostDeviceMap | kHostIoMemory);
      }))
    return code;
  Pointer mapped = 0;
  const int32_t code = with(gpu, error, "cuMemHostGetDevicePointer of the UAR",
                            [&](const Driver& t) { return t.MemHostGetDevicePointer(&mapped, at, 0); });
  if (code != 0) {
    unmap_io(gpu, page);
    return code;
  }
  *device = mapped;
  return 0;
}

void unmap_io(gv_gpu* gpu, uint64_t page) {
  with(gpu, nullptr, "cuMemHostUnregister",
       [&](const Driver& t) { return t.MemHostUnregister(reinterpret_cast<void*>(page)); });
}

int32_t export_dmabuf(gv_gpu* gpu, uint64_t base, uint64_t bytes, int* fd, gv_error* error) {
  if (gpu->driver->MemGetHandleForAddressRange == nullptr)
    return fail(error, -ENOSYS, 0, "the CUDA driver exports no dma-bufs: CUDA 11.7 or newer does");
  return with(gpu, error, "cuMemGetHandleForAddressRange",
              [&](const Driver& t) { return t.MemGetHandleForAddressRange(fd, base, bytes, kHandleDmabuf, 0); });
}

} // namespace gpuverbs::cuda
