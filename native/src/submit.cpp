// SPDX-License-Identifier: Apache-2.0
// gv_submit, gv_poll, gv_complete, gv_post_receive: the hot functions on the caller's thread.
#include "batch.h"
#include "gpuverbs.h"

using namespace gpuverbs;

namespace {

struct SubmitHere {
  Queue q;
  const gv_request* requests;
  uint32_t count;
  uint32_t wqebbs;

  template <uint32_t H, uint32_t M>
  int64_t operator()() {
    if (H != GV_HANDOVER_EXCLUSIVE) return submit<H, M>();
    if (const int64_t status = enter_exclusive(q)) return status;
    const int64_t ticket = submit<H, M>();
    leave_exclusive(q);
    return ticket;
  }

  template <uint32_t H, uint32_t M>
  int64_t submit() {
    const int64_t base = try_reserve<H, M>(q, wqebbs);
    if (base < 0) return base;
    const uint32_t step = group_requests(q.sq);
    Group g{0, 0, static_cast<uint64_t>(base), static_cast<uint64_t>(base), false};
    for (g.first = 0; g.first < count; g.first += g.count) {
      g.count = count - g.first < step ? count - g.first : step;
      for (uint32_t i = 0; i < g.count; i++) g.next += requests[g.first + i].wqebbs;
      g.tail = g.first + g.count == count;
      const int64_t status = run_group<H, M>(q, requests, g);
      if (status != GV_OK) return status;
      g.base = g.next;
    }
    return static_cast<int64_t>(g.base) - requests[count - 1].wqebbs;
  }
};

} // namespace

extern "C" int64_t gv_submit(gv_sq* q, const gv_request* requests, uint32_t count, uint32_t wqebbs) {
  const int64_t status = status_of_state(relaxed_load32(&q->state));
  if (status != GV_OK) return status;
  return with_policy(q, SubmitHere{view_of(q), requests, count, wqebbs});
}

extern "C" int64_t gv_poll(gv_sq* q, uint64_t ticket) {
  return q->fence_mode == GV_FENCE_SYSTEM ? poll_ticket<GV_FENCE_SYSTEM>(view_of(q), ticket)
                                          : poll_ticket<GV_FENCE_DEVICE>(view_of(q), ticket);
}

extern "C" int64_t gv_complete(gv_sq* q, uint32_t wqe_counter, uint32_t syndrome) {
  constexpr uint32_t M = GV_FENCE_SYSTEM;
  const uint64_t done = relaxed_load64(&q->completed);
  const int32_t ahead = static_cast<int16_t>(static_cast<uint16_t>(wqe_counter - static_cast<uint32_t>(done)));
  const uint64_t index = done + static_cast<uint64_t>(static_cast<int64_t>(ahead));
  if (ahead < 0) return static_cast<int64_t>(index);
  if (syndrome != 0) {
    latch_error<M>(q, index, syndrome);
    // Flushed WQEs behind the first error stay unfinished.
    if (index <= q->error_index) step_completed_cas<M>(&q->completed, done, index);
  } else {
    step_completed_cas<M>(&q->completed, done, index + wqe_size(view_of(q), index));
  }
  return static_cast<int64_t>(index);
}

extern "C" int64_t gv_post_receive(gv_qp* qp, const gv_segment* segments, uint32_t count, uint64_t completed) {
  const int64_t status = status_of_state(relaxed_load32(&qp->sq->state));
  if (status != GV_OK && status != GV_NOT_CONNECTED) return status;
  const uint64_t index = qp->receive_posted;
  if (index - completed >= qp->receive_depth) return GV_FULL;
  auto* unit = reinterpret_cast<uint32_t*>(qp->receive_ring + (index & (qp->receive_depth - 1)) * GV_RQ_STRIDE);
  uint32_t used = 0;
  for (uint32_t i = 0; i < count && i < GV_MAX_SEGMENTS; i++) {
    if (segments[i].length == 0) continue;
    unit[0] = be32(segments[i].length);
    unit[1] = be32(segments[i].lkey);
    unit[2] = be32(static_cast<uint32_t>(segments[i].address >> 32));
    unit[3] = be32(static_cast<uint32_t>(segments[i].address));
    unit += 4;
    used++;
  }
  if (used < GV_RQ_STRIDE / 16) { // MLX5_INVALID_LKEY ends the list
    unit[0] = 0;
    unit[1] = be32(0x100);
    unit[2] = unit[3] = 0;
  }
  qp->receive_posted = index + 1;
  before_record();
  __atomic_store_n(reinterpret_cast<uint32_t*>(qp->dbr), be32(static_cast<uint32_t>(index + 1) & 0xffff),
                   __ATOMIC_RELEASE);
  return static_cast<int64_t>(index);
}
