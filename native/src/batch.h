// SPDX-License-Identifier: Apache-2.0
// A batch on the host: its requests in groups as large as a warp's, each written, then published. Shared by the caller's
// thread and by the lane threads.
#ifndef GPUVERBS_SRC_BATCH_H
#define GPUVERBS_SRC_BATCH_H

#include "gpuverbs/submit.h"

namespace gpuverbs {

struct Group {
  uint32_t first; // request
  uint32_t count; // requests
  uint64_t base;  // WQE index of the first
  uint64_t next;  // WQE index behind the last
  bool tail;      // the batch ends with it
};

// Requests per group: a warp's worth, or fewer where a doorbell is due earlier.
inline uint32_t group_requests(const gv_sq* q) {
  return q->doorbell_every > 1 && q->doorbell_every < GV_GROUP_REQUESTS ? q->doorbell_every : GV_GROUP_REQUESTS;
}

// Writes a group's WQEs and publishes them. Returns GV_OK or why the queue is dead.
template <uint32_t H, uint32_t M>
inline int64_t run_group(const Queue& q, const gv_request* requests, const Group& g) {
  if (GV_MUTANT(publish_before_write)) publish<H, M>(q, g.base, g.next, g.tail);
  uint64_t index = g.base;
  for (uint32_t i = 0; i < g.count; i++) {
    const gv_request* request = requests + g.first + i;
    write_wqe<M>(q, index, request);
    index += request->wqebbs;
  }
  if (GV_MUTANT(publish_before_write)) return GV_OK;
  return publish<H, M>(q, g.base, g.next, g.tail);
}

// Calls f with the queue's hand-over and fence mode as compile-time constants.
template <class F>
inline int64_t with_policy(const gv_sq* q, F&& f) {
#define GV_CASE(h)                                                                        \
  case h:                                                                                 \
    return q->fence_mode == GV_FENCE_SYSTEM ? f.template operator()<h, GV_FENCE_SYSTEM>() \
                                            : f.template operator()<h, GV_FENCE_DEVICE>();
  switch (q->handover) {
    GV_CASE(GV_HANDOVER_CLASSIC)
    GV_CASE(GV_HANDOVER_TURN_CAS)
    GV_CASE(GV_HANDOVER_TURN_LDST)
    GV_CASE(GV_HANDOVER_BITMAP)
    GV_CASE(GV_HANDOVER_UNCHECKED_NOLOCK)
    GV_CASE(GV_HANDOVER_UNCHECKED_RELAXED)
    default:
      GV_CASE(GV_HANDOVER_EXCLUSIVE)
  }
#undef GV_CASE
}

} // namespace gpuverbs

#endif
