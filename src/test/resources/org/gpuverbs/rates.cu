// SPDX-License-Identifier: Apache-2.0
// Warps that put as fast as they can, for GpuSoak and GpuRates: block b of `blocks_per_queue` a queue, policy by the handle.
#include <gpuverbs/device.h>

__device__ constexpr uint64_t kDeadline = 60000000000ull;
__device__ constexpr uint32_t kSlots = 16;

template <uint32_t H>
__device__ int64_t run(gv_sq* handle, uint64_t local, uint32_t lkey, uint64_t remote, uint32_t rkey, uint32_t lane,
                       int rounds) {
  gpuverbs::Sender<H, GV_FENCE_SYSTEM> qp(handle);
  const uint64_t end = gpuverbs::now_ns() + kDeadline;
  int64_t s = 0;
  for (int r = 0; r < rounds && s >= 0; r++) {
    const uint64_t at = 64 * (lane * kSlots + r % kSlots);
    s = qp.put_warp(gpuverbs::kFullWarp, remote + at, rkey, local + at, lkey, 64);
    if (r % 256 == 0 && gpuverbs::now_ns() > end) s = GV_TIMEOUT;
  }
  return s < 0 ? s : qp.quiet(kDeadline);
}

extern "C" __global__ void storm(const uint64_t* handles, int blocks_per_queue, uint64_t local, uint32_t lkey,
                                 uint64_t remote, uint32_t rkey, int rounds, int64_t* status) {
  gv_sq* handle = reinterpret_cast<gv_sq*>(handles[blockIdx.x / blocks_per_queue]);
  const uint32_t lane = blockIdx.x * blockDim.x + threadIdx.x;
  int64_t s;
  switch (handle->handover) {
    case GV_HANDOVER_CLASSIC: s = run<GV_HANDOVER_CLASSIC>(handle, local, lkey, remote, rkey, lane, rounds); break;
    case GV_HANDOVER_TURN_CAS: s = run<GV_HANDOVER_TURN_CAS>(handle, local, lkey, remote, rkey, lane, rounds); break;
    case GV_HANDOVER_TURN_LDST: s = run<GV_HANDOVER_TURN_LDST>(handle, local, lkey, remote, rkey, lane, rounds); break;
    case GV_HANDOVER_BITMAP: s = run<GV_HANDOVER_BITMAP>(handle, local, lkey, remote, rkey, lane, rounds); break;
    default: s = run<GV_HANDOVER_EXCLUSIVE>(handle, local, lkey, remote, rkey, lane, rounds);
  }
  status[lane] = s;
}
