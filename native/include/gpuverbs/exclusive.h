/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checked build: with GPUVERBS_CHECK defined, a second submitter on an EXCLUSIVE queue sets the queue's ERROR and gets
 * GV_QP_ERROR, instead of writing over the first one's slots. Without it nothing of this is in the code.
 *
 * Two things tell: gv_sq.owner, held from a reservation to its publication, finds submitters that are inside at the same time;
 * resv_head beside the view's next index finds those who come one after the other with a view that is out of date.
 */
#ifndef GPUVERBS_EXCLUSIVE_H
#define GPUVERBS_EXCLUSIVE_H

#include "completion.h"

namespace gpuverbs {

#if defined(GPUVERBS_CHECK)

/* Takes the owner's place if it is free; true if it was. Ordered, because what follows writes the ring. */
GV_FN bool take_owner(uint64_t* owner, uint64_t who) {
#if GV_ON_DEVICE
  uint64_t seen;
  asm volatile("atom.acq_rel.gpu.global.cas.b64 %0, [%1], 0, %2;" : "=l"(seen) : "l"(owner), "l"(who) : "memory");
  return seen == 0;
#else
  uint64_t free = 0;
  return __atomic_compare_exchange_n(owner, &free, who, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
#endif
}

GV_FN void leave_exclusive(const Queue& q) {
#if GV_ON_DEVICE
  asm volatile("st.release.gpu.global.b64 [%0], 0;" ::"l"(&q.sq->owner) : "memory");
#else
  __atomic_store_n(&q.sq->owner, 0, __ATOMIC_RELEASE);
#endif
}

/* A number that tells one submitter from another in a debugger: never 0. */
GV_FN uint64_t submitter_number(const Queue& q) {
#if GV_ON_DEVICE
  uint32_t block, thread;
  asm("mov.u32 %0, %%ctaid.x;" : "=r"(block));
  asm("mov.u32 %0, %%tid.x;" : "=r"(thread));
  (void)q;
  return (static_cast<uint64_t>(block) << 32 | thread) + 1;
#else
  return reinterpret_cast<uint64_t>(&q); /* the caller's stack */
#endif
}

/*
 * The lane that submits comes in, and says if the lanes for which it does carry the same index. GV_OK, or GV_QP_ERROR if it is not the
 * only submitter; then it is not inside.
 */
GV_FN int64_t enter_exclusive(const Queue& q, bool agreed = true) {
  if (GV_MUTANT(unchecked_owner)) return GV_OK;
  const bool alone = take_owner(&q.sq->owner, submitter_number(q));
  if (alone && agreed && relaxed_load64(&q.sq->resv_head) == q.head) return GV_OK;
  swap_state(&q.sq->state, GV_STATE_RTS, GV_STATE_ERROR);
  if (alone) leave_exclusive(q);
  return GV_QP_ERROR;
}

#else

GV_FN int64_t enter_exclusive(const Queue&, bool = true) { return GV_OK; }
GV_FN void leave_exclusive(const Queue&) {}

#endif

} // namespace gpuverbs

#endif
