// SPDX-License-Identifier: Apache-2.0
// Compiles every call of the device API under every policy, so that a header that no longer compiles for a GPU fails the build.
#include <gpuverbs/device.h>

namespace {

template <uint32_t H, uint32_t M>
__device__ int64_t every_call(gv_sq* handle, const gv_segment* m, const uint64_t* signal) {
  __shared__ int64_t shared;
  gpuverbs::Sender<H, M> qp(handle);
  const uint64_t remote = m[0].address, local = m[1].address;
  const uint32_t rkey = m[0].lkey, lkey = m[1].lkey, bytes = m[1].length;
  int64_t status = qp.put(remote, rkey, local, lkey, bytes, GV_FLAG_SIGNALED);
  status |= qp.put_immediate(remote, rkey, local, lkey, bytes, 7);
  status |= qp.get(local, lkey, remote, rkey, bytes);
  status |= qp.put_value(remote, rkey, 1);
  status |= qp.fetch_add(remote, rkey, 1, local, lkey);
  status |= qp.compare_swap(remote, rkey, 0, 1, local, lkey);
  status |= qp.put_signal(remote, rkey, local, lkey, bytes, remote, rkey, 1, local, lkey);
  status |= qp.put_warp(gpuverbs::kFullWarp, remote, rkey, local, lkey, bytes);
  status |= qp.fetch_add_warp(gpuverbs::kFullWarp, remote, rkey, 1, local, lkey);
  status |= qp.put_block(&shared, remote, rkey, local, lkey, bytes);
  status |= qp.test(status) | qp.wait(status, 1000) | qp.quiet(1000) | qp.wait_signal(signal, 1, 1000);
  qp.fetch_fence();
  qp.flush();
  qp.resume();
  return status;
}

} // namespace

#define GV_KERNEL(name, h, m)                                                                                  \
  extern "C" __global__ void gv_calls_##name(gv_sq* q, const gv_segment* s, const uint64_t* w, int64_t* out) { \
    *out = every_call<h, m>(q, s, w);                                                                          \
  }

GV_KERNEL(turn_cas_system, GV_HANDOVER_TURN_CAS, GV_FENCE_SYSTEM)
GV_KERNEL(bitmap_device, GV_HANDOVER_BITMAP, GV_FENCE_DEVICE)
GV_KERNEL(exclusive_system, GV_HANDOVER_EXCLUSIVE, GV_FENCE_SYSTEM)

extern "C" __global__ void gv_calls_by_policy(gv_sq* q, const gv_segment* m, const uint64_t* signal, int64_t* out) {
  gpuverbs::QueuePair qp(q);
  *out = qp.wait(qp.put(m[0].address, m[0].lkey, m[1].address, m[1].lkey, 64, GV_FLAG_SIGNALED), 1000) |
         qp.wait_signal(signal, 1, 1000);
}
