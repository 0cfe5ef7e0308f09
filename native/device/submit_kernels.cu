// SPDX-License-Identifier: Apache-2.0
// The built-in kernels: a prebuilt batch, one lane a request, a warp a group. One kernel for each hand-over and fence mode,
// named gv_submit_HANDOVER_MODE. The caller has reserved the slots, so that its ticket is known before the kernel runs.
#include <gpuverbs/group.h>

using namespace gpuverbs;

namespace {

// Whoever asks if it is the last in line must see the whole batch in line. Heads never go back.
GV_FN void raise_head(uint64_t* head, uint64_t to) {
  asm volatile("red.relaxed.gpu.global.max.u64 [%0], %1;" ::"l"(head), "l"(to) : "memory");
}

// Out of line: fourteen kernels share two encoders.
template <uint32_t M>
__device__ __attribute__((noinline)) void encode(const Queue& q, uint64_t index, const gv_request* request) {
  write_wqe<M>(q, index, request);
}

template <uint32_t H, uint32_t M>
__device__ __forceinline__ void submit_batch(gv_sq* handle, const gv_request* requests, const uint64_t* starts,
                                             uint32_t count, uint64_t end) {
  Queue q = view_of(handle);
  const uint32_t lane = lane_id();
  const uint32_t group = block_id_x() * (threads_in_block() / 32) + thread_in_block() / 32;
  const uint32_t groups = (count + GV_GROUP_REQUESTS - 1) / GV_GROUP_REQUESTS;
  if (group >= groups) return;
  const uint64_t base = starts[group];
  const uint64_t next = group + 1 < groups ? starts[group + 1] : end;
  const uint32_t i = group * GV_GROUP_REQUESTS + lane;
  const uint32_t blocks = i < count ? requests[i].wqebbs : 0;
  if (lane == 0) raise_head(&handle->resv_head, end);
  q.completed = end > q.depth ? end - q.depth : 0; // or the caller could not have reserved
  uint32_t total;
  const uint32_t offset = sum_below(kFullWarp, blocks, &total);
  if (i < count) encode<M>(q, base + offset, requests + i);
  if (H == GV_HANDOVER_EXCLUSIVE) {
    // One submitter by contract, but its warps must publish in order: they take turns.
    publish_warp<GV_HANDOVER_TURN_CAS, M>(q, kFullWarp, base, next, true);
  } else {
    publish_warp<H, M>(q, kFullWarp, base, next, true);
  }
}

} // namespace

#define GV_KERNEL(name, h)                                                                                           \
  extern "C" __global__ void gv_submit_##name##_system(gv_sq* q, const gv_request* requests, const uint64_t* starts, \
                                                       uint32_t count, uint64_t base, uint64_t end) {                \
    submit_batch<h, GV_FENCE_SYSTEM>(q, requests, starts, count, end);                                               \
  }                                                                                                                  \
  extern "C" __global__ void gv_submit_##name##_device(gv_sq* q, const gv_request* requests, const uint64_t* starts, \
                                                       uint32_t count, uint64_t base, uint64_t end) {                \
    submit_batch<h, GV_FENCE_DEVICE>(q, requests, starts, count, end);                                               \
  }

GV_KERNEL(classic, GV_HANDOVER_CLASSIC)
GV_KERNEL(turn_cas, GV_HANDOVER_TURN_CAS)
GV_KERNEL(turn_ldst, GV_HANDOVER_TURN_LDST)
GV_KERNEL(bitmap, GV_HANDOVER_BITMAP)
GV_KERNEL(exclusive, GV_HANDOVER_EXCLUSIVE)
GV_KERNEL(unchecked_nolock, GV_HANDOVER_UNCHECKED_NOLOCK)
GV_KERNEL(unchecked_relaxed, GV_HANDOVER_UNCHECKED_RELAXED)
