// SPDX-License-Identifier: Apache-2.0
#ifndef GPUVERBS_SRC_CUDA_GPU_H
#define GPUVERBS_SRC_CUDA_GPU_H

#include <mutex>

#include "driver.h"

// A GPU's context, and the stream that the library's own copies go through.
struct gv_gpu {
  const gpuverbs::cuda::Driver* driver;
  gpuverbs::cuda::Context context;
  gpuverbs::cuda::Device device;
  bool retained;
  gpuverbs::cuda::Stream stream; // non-blocking: never waits for, or behind, the user's default stream
  std::mutex copying;            // the stream's copies are waited for one caller at a time
};

namespace gpuverbs::cuda {

// Makes a context current for a scope and puts the thread's own back: the thread belongs to somebody else. While a thread captures a
// graph in CUDA's global mode, all threads are forbidden to allocate or to ask about events, and spoil that capture if they do; in
// relaxed mode a thread is exempt, and what the library does belongs to no capture.
class Current {
 public:
  explicit Current(const gv_gpu* gpu) : driver_(gpu->driver), result_(gpu->driver->CtxPushCurrent(gpu->context)) {
    exchange_mode();
  }
  ~Current() {
    exchange_mode();
    Context ignored;
    if (result_ == kSuccess) driver_->CtxPopCurrent(&ignored);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  Result result() const { return result_; }

 private:
  void exchange_mode() {
    if (driver_->ThreadExchangeStreamCaptureMode != nullptr) driver_->ThreadExchangeStreamCaptureMode(&mode_);
  }

  const Driver* driver_;
  Result result_;
  int mode_ = kCaptureModeRelaxed;
};

// Runs `body`, which returns a Result, with the GPU's context current.
template <class F>
int32_t with(gv_gpu* gpu, gv_error* error, const char* what, F body) {
  Current current(gpu);
  Result result = current.result();
  if (result == kSuccess) result = body(*gpu->driver);
  return result == kSuccess ? 0 : cuda_error(gpu->driver, error, result, what);
}

// nic.cpp. A NIC's register page in the GPU's addresses; gone by unmap_io.
int32_t map_io(gv_gpu* gpu, uint64_t page, uint64_t bytes, uint64_t* device, gv_error* error);
void unmap_io(gv_gpu* gpu, uint64_t page);
// GPU memory as a dma-buf, to be closed. Base and length are multiples of 64 KiB.
int32_t export_dmabuf(gv_gpu* gpu, uint64_t base, uint64_t bytes, int* fd, gv_error* error);

} // namespace gpuverbs::cuda

#endif
