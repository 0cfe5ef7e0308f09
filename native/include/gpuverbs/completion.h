/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the NIC has finished: the collapsed CQE's 16-bit counter widened to 64 bits, and the first error.
 *
 * Every submitter and every poller may run this at once. `completed` only grows, by compare-and-swap from the value that was
 * current before the CQE was read: while the swap succeeds nobody can have freed, and so nobody can have overwritten, the WQE
 * whose size is read from the ring.
 */
#ifndef GPUVERBS_COMPLETION_H
#define GPUVERBS_COMPLETION_H

#include "wqe.h"

namespace gpuverbs {

/* CQE64, last word in memory order: be16 wqe_counter, signature, op_own (opcode in the high nibble). */
constexpr uint32_t kCqeTail = 0x3c;
constexpr uint32_t kCqeSyndrome = 0x37;
constexpr uint32_t kCqeRequest = 0;
constexpr uint32_t kCqeRequestError = 13;
constexpr uint32_t kSyndromeFlushed = 0x05;

GV_FN uint32_t cqe_counter(uint32_t tail) { return ((tail & 0xff) << 8) | ((tail >> 8) & 0xff); }
GV_FN uint32_t cqe_opcode(uint32_t tail) { return tail >> 28; }

/* Basic blocks of the WQE at `index`, from its control segment (ds, in 16-byte units, is byte 7). */
GV_FN uint32_t wqe_size(const Queue& q, uint64_t index) {
  const uint8_t* wqe = q.ring + static_cast<uint64_t>(static_cast<uint32_t>(index) & (q.depth - 1)) * GV_WQEBB;
  const uint32_t word = speculative_load32(reinterpret_cast<const uint32_t*>(wqe + 4));
  return (((word >> 24) & 0x3f) + 3) / 4;
}

/* Records the first error and moves the queue to ERROR. Later errors are consequences and change nothing. */
template <uint32_t M>
GV_FN void latch_error(gv_sq* q, uint64_t index, uint32_t syndrome) {
  uint64_t* latch = &q->error_latch;
  if (step_lock_cas<M>(latch, 0, 1) != 0) return;
  q->error_index = index;
  q->error_syndrome = syndrome;
  step_unlock_store<M>(latch, 2);
  swap_state(&q->state, GV_STATE_RTS, GV_STATE_ERROR);
}

/*
 * Reads the collapsed CQE and returns the slots finished so far. Without one (full CQ) the consumer advances them.
 *
 * A CQE names the first block of its WQE. All before it is finished too; how far the WQE itself reaches stands in the
 * ring. `enough` spares that read, which may cross PCIe: it is made only if the slots before the WQE don't reach so far.
 */
template <uint32_t M>
GV_FN uint64_t refresh_completed(const Queue& q, uint64_t enough) {
  uint64_t done = step_completed_load<M>(&q.sq->completed);
  if (q.cqe == nullptr) return done;
  for (;;) {
    const uint32_t tail = step_cqe_load<M>(reinterpret_cast<const uint32_t*>(q.cqe + kCqeTail));
    const uint32_t opcode = cqe_opcode(tail);
    if (opcode != kCqeRequest && opcode != kCqeRequestError) return done;
    /* Signed: a counter behind the cache is an old CQE, not one 64 K ahead. */
    const uint16_t distance = static_cast<uint16_t>(cqe_counter(tail) - static_cast<uint32_t>(done));
    const int32_t ahead = GV_MUTANT(unsigned_credit) ? distance : static_cast<int16_t>(distance);
    if (ahead < 0) return done;
    step_cqe_acquire<M>();
    const uint64_t index = done + static_cast<uint32_t>(ahead);
    const bool failed = opcode == kCqeRequestError;
    uint64_t next = index;
    /* RC finishes in order: everything before a WQE that failed has succeeded. */
    if (!failed && static_cast<int64_t>(index - enough) < 0) next += wqe_size(q, index);
    if (next == done && (!failed || relaxed_load64(&q.sq->error_latch) != 0)) return done;
    const uint64_t seen = step_completed_cas<M>(&q.sq->completed, done, next);
    if (seen == done) {
      /* Only now is `index` certain: with an old `done` the 16-bit counter may mean another lap. */
      if (failed)
        latch_error<M>(q.sq, index,
                       (relaxed_load32(reinterpret_cast<const uint32_t*>(q.cqe + (kCqeSyndrome & ~3u))) >> 24));
      return next;
    }
    done = seen;
  }
}

GV_FN int64_t status_of_state(uint32_t state) {
  switch (state) {
    case GV_STATE_RTS:
      return GV_OK;
    case GV_STATE_RESET:
      return GV_NOT_CONNECTED;
    case GV_STATE_CLOSED:
      return GV_CLOSED;
    default:
      return GV_QP_ERROR;
  }
}

/* GV_OK, GV_PENDING, a positive syndrome, or GV_CLOSED / GV_QP_ERROR / GV_NOT_CONNECTED. */
template <uint32_t M>
GV_FN int64_t poll_ticket(const Queue& q, uint64_t ticket) {
  const uint32_t state = relaxed_load32(&q.sq->state);
  if (ticket < step_completed_load<M>(&q.sq->completed) || ticket < refresh_completed<M>(q, ticket + 1)) {
    step_credit_acquire<M>();
    return GV_OK;
  }
  const uint64_t latch = relaxed_load64(&q.sq->error_latch);
  if (latch == 2) {
    step_credit_acquire<M>();
    if (ticket == q.sq->error_index) return q.sq->error_syndrome;
    if (ticket > q.sq->error_index) return kSyndromeFlushed;
    return GV_OK;
  }
  if (latch == 1 || state == GV_STATE_RTS) return GV_PENDING;
  return status_of_state(state);
}

} // namespace gpuverbs

#endif
