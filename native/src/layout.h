// SPDX-License-Identifier: Apache-2.0
// What the queues of host memory and of a GPU have in common: the check of their attributes, and a gv_sq's initial words.
#ifndef GPUVERBS_SRC_LAYOUT_H
#define GPUVERBS_SRC_LAYOUT_H

#include <cerrno>

#include "error.h"

namespace gpuverbs {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kDevicePage = 65536; // what GPU memory is given to a NIC in
constexpr uint64_t kLine = 128;
constexpr int kInvalidCqe = 0xff; // every byte: opcode 15, which is no CQE

inline uint64_t round_up(uint64_t bytes, uint64_t to) { return (bytes + to - 1) & ~(to - 1); }

inline bool power_of_two(uint64_t v) { return v != 0 && (v & (v - 1)) == 0; }

// An owner-bit CQ: its CQEs, then a page for the doorbell record of one that a NIC produces.
inline uint64_t cqe_ring_bytes(uint32_t depth) { return round_up(static_cast<uint64_t>(depth) * GV_CQE_SIZE, kPage); }
inline uint64_t cq_bytes(uint32_t depth) { return cqe_ring_bytes(depth) + kPage; }

inline uint32_t signal_every_of(const gv_qp_attr* a) {
  if (!a->collapsed) return 1; // a full CQ has a CQE for every WQE
  return a->signal_every == 0 ? a->depth / 4 : a->signal_every;
}

// 0, or -EINVAL with the field that is wrong.
inline int32_t check_attributes(const gv_qp_attr* a, gv_error* error) {
  if (!power_of_two(a->depth) || a->depth < GV_MIN_DEPTH || a->depth > GV_MAX_DEPTH)
    return fail(error, -EINVAL, 0, "depth %u: use a power of two from %d to %d", a->depth, GV_MIN_DEPTH, GV_MAX_DEPTH);
  if (a->receive_depth != 0 && (!power_of_two(a->receive_depth) || a->receive_depth > GV_MAX_DEPTH))
    return fail(error, -EINVAL, 0, "receive depth %u: use 0 or a power of two up to %d", a->receive_depth,
                GV_MAX_DEPTH);
  if (a->handover > GV_HANDOVER_UNCHECKED_RELAXED)
    return fail(error, -EINVAL, 0, "hand-over %u is not known", a->handover);
  if (a->fence_mode > GV_FENCE_DEVICE) return fail(error, -EINVAL, 0, "fence mode %u is not known", a->fence_mode);
  if (!power_of_two(a->doorbell_every) || a->doorbell_every > 1024)
    return fail(error, -EINVAL, 0, "doorbell every %u: use a power of two from 1 to 1024", a->doorbell_every);
  const uint32_t signal_every = signal_every_of(a);
  if (!power_of_two(signal_every) || signal_every > a->depth / 4)
    return fail(error, -EINVAL, 0, "signal every %u: use a power of two up to a quarter of the depth, %u", signal_every,
                a->depth / 4);
  const uint32_t batch = a->doorbell_every > signal_every ? a->doorbell_every : signal_every;
  if (a->max_group_wqebbs == 0 || a->depth < batch + a->max_group_wqebbs - 1) // I5
    return fail(error, -EINVAL, 0,
                "depth %u is too small: doorbells every %u, completions every %u and groups of %u WQEBBs need %u",
                a->depth, a->doorbell_every, signal_every, a->max_group_wqebbs, batch + a->max_group_wqebbs - 1);
  return 0;
}

inline void set_policy(gv_sq* q, const gv_qp_attr* a) {
  q->depth = a->depth;
  q->handover = a->handover;
  q->fence_mode = a->fence_mode;
  q->doorbell_every = a->doorbell_every;
  q->signal_every = signal_every_of(a);
  q->submit_timeout_ns = a->submit_timeout_ns == 0 ? 10000000000ull : a->submit_timeout_ns;
}

inline void clear_heads(gv_sq* q) {
  q->resv_head = q->ready_head = q->post_lock = q->posted = q->completed = 0;
  q->error_syndrome = 0;
  q->error_index = q->error_latch = 0;
  q->owner = 0;
}

} // namespace gpuverbs

#endif
