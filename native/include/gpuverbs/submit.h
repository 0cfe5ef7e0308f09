/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The submit path: reserve -> wait for free slots -> write WQE -> publish -> doorbell.
 *
 * One source for CUDA kernels and for lane threads. A submitter is whoever calls: one lane, or the leader of a warp or block
 * that has made one reservation for all its lanes. Each hand-over below publishes the slots [base, next), which the
 * caller has reserved and written, and sees to it that a doorbell covers them.
 *
 *   CLASSIC    ready_head: base -> next by a CAS that waits for its predecessor; then the doorbell under a lock
 *   TURN_CAS   ready_head == base is the turn. Whoever has a successor passes the turn on with one CAS and rings nothing;
 *              the last in line, or a border every `doorbell_every` slots, rings inside its turn
 *   TURN_LDST  the same with ld.acquire and st.release: no atomic
 *   BITMAP     no chain: one bit a slot; the first to announce scans and rings for everybody
 *   EXCLUSIVE  one submitter by contract
 *
 * M is the fence mode. The step_* functions are the ordering (steps.def, ../../ORDERING.md); invariants I1..I8 are named
 * where they are kept.
 */
#ifndef GPUVERBS_SUBMIT_H
#define GPUVERBS_SUBMIT_H

#include "exclusive.h"

namespace gpuverbs {

/* ---- bounded waiting (I6) -------------------------------------------------------------------------------------- */

struct Wait {
  uint32_t tries = 0;
  uint64_t deadline = 0; /* set at the first slow check, so that a wait that is short never reads the clock */
};

/* The state word; read at each turn of a spin, before the access that spins, so that both are in flight together. */
GV_FN uint32_t state_of(const Queue& q) { return relaxed_load32(&q.sq->state); }

/* Called at each turn of a spin: GV_OK to go on, else why the wait is over. */
GV_FN int64_t keep_waiting(const Queue& q, Wait& w, uint32_t state) {
  if (GV_MUTANT(unbounded_wait)) return GV_OK;
  if (state != GV_STATE_RTS) return status_of_state(state);
  w.tries++;
#if !GV_ON_DEVICE
  /* With fewer cores than submitters the one whose turn it is may not be running. */
  if (w.tries > 64)
    sched_yield();
  else
    relax();
#endif
  if ((w.tries & 255) != 0) return GV_OK;
  count64(&q.sq->stalls, 1);
  const uint64_t control = constant64(&q.sq->host_control);
  if (control != 0 && host_load64(reinterpret_cast<const uint64_t*>(control)) != 0) return GV_CLOSED;
  const uint64_t now = now_ns();
  if (w.deadline == 0) {
    w.deadline = now + constant64(&q.sq->submit_timeout_ns);
    return GV_OK;
  }
  return now < w.deadline ? GV_OK : GV_TIMEOUT;
}

/* I8: a submitter that gives up after reserving leaves a gap that nobody can fill; the queue says so to all. */
GV_FN int64_t give_up(const Queue& q, int64_t status) {
  if (status == GV_TIMEOUT && !GV_MUTANT(silent_give_up)) swap_state(&q.sq->state, GV_STATE_RTS, GV_STATE_ERROR);
  return status;
}

/* ---- reserve --------------------------------------------------------------------------------------------------- */

/* Signed, because what is known to be finished may be ahead of an index reserved earlier. */
GV_FN bool has_room(const Queue& q, uint64_t next) {
  return static_cast<int64_t>(next - q.completed) <= static_cast<int64_t>(q.depth);
}

/* Brings the view up to date, from the shared cache and, if that isn't enough, from the CQE. True if there is room now. */
template <uint32_t M>
GV_FN bool find_room(Queue& q, uint64_t next) {
  q.completed = step_completed_load<M>(&q.sq->completed);
  if (!has_room(q, next)) q.completed = refresh_completed<M>(q, next - q.depth);
  step_credit_acquire<M>();
  return has_room(q, next);
}

/* Reserves n slots or, deciding before anything is taken (I8), returns GV_FULL. */
template <uint32_t H, uint32_t M>
GV_FN int64_t try_reserve(Queue& q, uint32_t n) {
  uint64_t base = H == GV_HANDOVER_EXCLUSIVE ? q.head : relaxed_load64(&q.sq->resv_head);
  for (;;) {
    if (!has_room(q, base + n) && !find_room<M>(q, base + n) && !GV_MUTANT(no_slot_check)) {
      count64(&q.sq->full, 1);
      return GV_FULL;
    }
    if (H == GV_HANDOVER_EXCLUSIVE) {
      q.head = base + n;
      relaxed_store64(&q.sq->resv_head, q.head); /* another view may be made before these slots are published */
      return static_cast<int64_t>(base);
    }
    const uint64_t seen = step_reserve_cas<M>(&q.sq->resv_head, base, base + n);
    if (seen == base) return static_cast<int64_t>(base);
    base = seen;
  }
}

/* Reserves n slots and waits until they are free. Irrevocable (I8): a wait that fails sets the queue's ERROR. */
template <uint32_t H, uint32_t M>
GV_FN int64_t reserve(Queue& q, uint32_t n) {
  uint64_t base;
  if (H == GV_HANDOVER_EXCLUSIVE) {
    base = q.head;
    q.head = base + n;
#if !GV_IN_KERNEL
    relaxed_store64(&q.sq->resv_head, q.head);
#endif
  } else {
    if (H == GV_HANDOVER_TURN_CAS) q.ready = step_turn_peek<M>(&q.sq->ready_head);
    base = step_reserve_add<M>(&q.sq->resv_head, n);
  }
  if (!has_room(q, base + n)) {
    Wait w;
    for (;;) {
      const uint32_t state = state_of(q);
      if (find_room<M>(q, base + n)) break;
      const int64_t status = keep_waiting(q, w, state);
      if (status != GV_OK) return give_up(q, status);
    }
  }
  return static_cast<int64_t>(base);
}

/* ---- doorbell -------------------------------------------------------------------------------------------------- */

/* DBR, then doorbell, for everything before `pi` (I1, I3). The caller is the only one that rings. */
template <uint32_t M>
GV_FN void ring(const Queue& q, uint64_t pi) {
  const uint32_t low = static_cast<uint32_t>(pi) & 0xffff;
  step_ring_release<M>();
  step_dbr_store<M>(q.dbr, be32(low));
  step_dbr_release<M>();
#if !GV_ON_DEVICE
  if (q.doorbell_kind == GV_DOORBELL_WRITE_COMBINING) before_write_combining();
#endif
  step_doorbell_store<M>(q.doorbell, static_cast<uint64_t>(be32(low << 8)) | (static_cast<uint64_t>(q.qpn_word) << 32));
#if !GV_ON_DEVICE
  if (q.doorbell_kind == GV_DOORBELL_WRITE_COMBINING) flush_write_combining();
#endif
  count64(&q.sq->doorbells, 1);
}

/* True where [base, next) crosses a multiple of the doorbell batch: with it no run of slots stays uncovered longer (I3, I5). */
GV_FN bool crosses_border(const Queue& q, uint64_t base, uint64_t next) {
  return ((base ^ next) & ~static_cast<uint64_t>(q.doorbell_every - 1)) != 0;
}

/* One try to move ready_head from base to next. A processor looks first: a CAS that fails still takes the line away. */
template <uint32_t M>
GV_FN bool hand_over(const Queue& q, uint64_t base, uint64_t next) {
#if !GV_ON_DEVICE
  if (relaxed_load64(&q.sq->ready_head) != base) return GV_HOOK(handover_cas) && false;
#endif
  return step_handover_cas<M>(&q.sq->ready_head, base, next) == base;
}

/* ---- hand-overs ------------------------------------------------------------------------------------------------ */

template <uint32_t M>
GV_FN int64_t publish_classic(const Queue& q, uint64_t base, uint64_t next, bool locked) {
  step_publish_release<M>();
  Wait w;
  for (;;) { /* I2 */
    const uint32_t state = state_of(q);
    if (hand_over<M>(q, base, next)) break;
    const int64_t status = keep_waiting(q, w, state);
    if (status != GV_OK) return give_up(q, status);
  }
  step_turn_acquire<M>();
  /* The tail rule: whoever finds nobody behind it rings; otherwise a successor will ask the same question later. */
  if (!crosses_border(q, base, next) && (relaxed_load64(&q.sq->resv_head) != next || GV_MUTANT(no_tail_rule)))
    return GV_OK;
  if (!locked) {
    ring<M>(q, next);
    return GV_OK;
  }
  w = Wait();
  for (;;) {
    const uint32_t state = state_of(q);
    if (step_lock_cas<M>(&q.sq->post_lock, 0, 1) == 0) break;
    const int64_t status = keep_waiting(q, w, state);
    if (status != GV_OK) return give_up(q, status);
  }
  step_lock_acquire<M>();
  if (static_cast<int64_t>(next - q.sq->posted) > 0) { /* I3: never backwards */
    q.sq->posted = next;
    ring<M>(q, next);
  }
  step_unlock_store<M>(&q.sq->post_lock, 0);
  return GV_OK;
}

template <uint32_t M>
GV_FN int64_t publish_turn_cas(const Queue& q, uint64_t base, uint64_t next) {
  /* With nobody in front when the slots were reserved it is this submitter's turn: one release fence, in ring(), does for all. */
  if (q.ready != base) {
    const bool border = crosses_border(q, base, next);
    uint64_t reserved, ready;
    step_turn_load<M>(&q.sq->resv_head, &reserved, &ready);
    step_publish_release<M>();
    Wait w;
    while (ready != base && !GV_MUTANT(no_turn)) { /* I2 */
      const uint32_t state = state_of(q);
      if (!border && reserved != next) {
        if (hand_over<M>(q, base, next)) return GV_OK;
      } else {
        step_turn_load<M>(&q.sq->resv_head, &reserved, &ready);
        if (ready == base) break;
      }
      const int64_t status = keep_waiting(q, w, state);
      if (status != GV_OK) return give_up(q, status);
    }
    if (!border && (reserved != next || GV_MUTANT(no_tail_rule))) {
      step_handover_add<M>(&q.sq->ready_head, next - base);
      return GV_OK;
    }
  }
  step_turn_acquire<M>();
  ring<M>(q, next);
  step_handover_add<M>(&q.sq->ready_head, next - base);
  return GV_OK;
}

template <uint32_t M>
GV_FN int64_t publish_turn_ldst(const Queue& q, uint64_t base, uint64_t next) {
  Wait w;
  for (;;) { /* I2 */
    const uint32_t state = state_of(q);
    if (step_turn_load_acquire<M>(&q.sq->ready_head) == base || GV_MUTANT(no_turn)) break;
    const int64_t status = keep_waiting(q, w, state);
    if (status != GV_OK) return give_up(q, status);
  }
  if (crosses_border(q, base, next) || (relaxed_load64(&q.sq->resv_head) == next && !GV_MUTANT(no_tail_rule)))
    ring<M>(q, next);
  step_turn_store_release<M>(&q.sq->ready_head, next);
  return GV_OK;
}

/* Unsound from three submitters on: the one in the middle never releases again what it acquired (ORDERING.md). */
template <uint32_t M>
GV_FN int64_t publish_turn_relaxed(const Queue& q, uint64_t base, uint64_t next) {
  Wait w;
  uint64_t reserved, ready;
  step_publish_release<M>();
  for (;;) {
    const uint32_t state = state_of(q);
    step_turn_load<M>(&q.sq->resv_head, &reserved, &ready);
    if (ready == base) break;
    const int64_t status = keep_waiting(q, w, state);
    if (status != GV_OK) return give_up(q, status);
  }
  step_turn_acquire<M>();
  if (crosses_border(q, base, next) || reserved == next) ring<M>(q, next);
  step_turn_store_relaxed<M>(&q.sq->ready_head, next);
  return GV_OK;
}

template <uint32_t M>
GV_FN int64_t publish_exclusive(const Queue& q, uint64_t base, uint64_t next, bool tail) {
  if (tail || crosses_border(q, base, next)) ring<M>(q, next);
#if GV_IN_KERNEL
  /* Both heads, for whoever looks: the one submitter carries them in its view. */
  relaxed_store_pair(&q.sq->resv_head, next, next);
#else
  /* resv_head was stored with the reservation, and may be further by now: a lane thread publishes what its caller reserved (I8). */
  relaxed_store64(&q.sq->ready_head, next);
#endif
  return GV_OK;
}

/* ---- BITMAP ---------------------------------------------------------------------------------------------------- */

/*
 * Slot i of lap L is ready when its bit equals !(L & 1): setting it is an XOR, and no bit is ever cleared.
 * q.sq->posted holds the posted index (40 bits) above a count of announcements (24 bits).
 */
constexpr uint32_t kAnnouncementBits = 24;
constexpr uint64_t kAnnouncementMask = (1ull << kAnnouncementBits) - 1;

GV_FN uint32_t low_bits(uint32_t n) { return n >= 32 ? ~0u : (1u << n) - 1; }

template <uint32_t M>
GV_FN void xor_ready_bits(const Queue& q, uint64_t from, uint32_t n) {
  const uint32_t slot = static_cast<uint32_t>(from) & (q.depth - 1);
  step_bitmap_xor<M>(q.bitmap + (slot >> 5), low_bits(n) << (slot & 31));
}

/*
 * A scan that stops inside a WQE would ring for half of it. Nobody gets past `base` without its bit, so that the word with that
 * bit is set after all others: [base, next) shows whole or not at all to whoever acquires what it has read.
 */
template <uint32_t M>
GV_FN void set_ready_bits(const Queue& q, uint64_t base, uint64_t next) {
  const uint64_t border = (base & ~31ull) + 32;
  if (next > border) {
    for (uint64_t at = border; at < next; at += 32) xor_ready_bits<M>(q, at, static_cast<uint32_t>(next - at));
    step_bits_release<M>();
  }
  xor_ready_bits<M>(q, base, static_cast<uint32_t>((next < border ? next : border) - base));
}

/* Ready bits of the 32 slots that hold `index`, 1 = ready. */
template <uint32_t M>
GV_FN uint32_t ready_bits(const Queue& q, uint64_t index) {
  const uint32_t slot = static_cast<uint32_t>(index) & (q.depth - 1);
  const uint32_t word = step_bitmap_load<M>(q.bitmap + (slot >> 5));
  return (index & q.depth) != 0 ? ~word : word;
}

#if GV_ON_DEVICE
GV_FN uint32_t device_first_one(uint32_t v) {
  uint32_t reversed, zeros;
  asm("brev.b32 %0, %1;" : "=r"(reversed) : "r"(v));
  asm("clz.b32 %0, %1;" : "=r"(zeros) : "r"(reversed));
  return zeros;
}
#endif

GV_FN uint32_t first_zero(uint32_t v) {
#if GV_ON_DEVICE
  return device_first_one(~v);
#else
  return static_cast<uint32_t>(__builtin_ctz(~v));
#endif
}

/* The first index from `from` on that is not ready; at most `limit`. */
template <uint32_t M>
GV_FN uint64_t scan_ready(const Queue& q, uint64_t from, uint64_t limit) {
  for (uint64_t at = from; at < limit;) {
    const uint32_t v = ready_bits<M>(q, at) | low_bits(static_cast<uint32_t>(at) & 31);
    if (v != ~0u) return (at & ~31ull) + first_zero(v);
    at = (at & ~31ull) + 32;
  }
  return limit;
}

/* The posted index, 40 bits wide in the word, by its distance from an index that is at most a ring away. */
GV_FN uint64_t widen_posted(uint64_t word, uint64_t near) {
  const int64_t distance =
      static_cast<int64_t>(((word >> kAnnouncementBits) - near) << kAnnouncementBits) >> kAnnouncementBits;
  return near + static_cast<uint64_t>(distance);
}

template <uint32_t M>
GV_FN int64_t publish_bitmap(const Queue& q, uint64_t base, uint64_t next) {
  step_publish_release<M>();
  set_ready_bits<M>(q, base, next);
  step_announce_fence<M>();
  const uint64_t word = step_announce_add<M>(&q.sq->posted, 1);
  if ((word & kAnnouncementMask) != 0) return GV_OK; /* somebody is scanning and will see this announcement */
  uint64_t posted = widen_posted(word, base);
  uint64_t announced = 1;
  do {
    step_scan_acquire<M>();
    uint64_t ready = posted;
    for (;;) {
      const uint64_t from = ready;
      ready = scan_ready<M>(q, from, posted + q.depth);
      if (ready == from) break;
      step_bits_acquire<M>(); /* I1: a bit may be seen before its owner has announced it */
      if ((ready & 31) != 0) break;
      /* At a word's border the rest of a WQE may show now. */
    }
    count64(&q.sq->scans, 1);
    if (ready != posted) {
      relaxed_store64(&q.sq->ready_head, ready);
      ring<M>(q, ready);
    }
    const uint64_t change = ((ready - posted) << kAnnouncementBits) - announced;
    announced = (step_retire_add<M>(&q.sq->posted, change) + change) & kAnnouncementMask;
    posted = ready;
  } while (announced != 0);
  return GV_OK;
}

/* ---- the path -------------------------------------------------------------------------------------------------- */

/*
 * Publishes [base, next) under hand-over H. tail: EXCLUSIVE rings although no border is crossed; the others find out
 * themselves whether they are the last. GV_OK, or why the queue is dead.
 */
template <uint32_t H, uint32_t M>
GV_FN int64_t publish(const Queue& q, uint64_t base, uint64_t next, bool tail) {
  if (H == GV_HANDOVER_CLASSIC) return publish_classic<M>(q, base, next, !GV_MUTANT(no_lock));
  if (H == GV_HANDOVER_UNCHECKED_NOLOCK) return publish_classic<M>(q, base, next, false);
  if (H == GV_HANDOVER_TURN_CAS) return publish_turn_cas<M>(q, base, next);
  if (H == GV_HANDOVER_TURN_LDST) return publish_turn_ldst<M>(q, base, next);
  if (H == GV_HANDOVER_UNCHECKED_RELAXED) return publish_turn_relaxed<M>(q, base, next);
  if (H == GV_HANDOVER_BITMAP) return publish_bitmap<M>(q, base, next);
  return publish_exclusive<M>(q, base, next, tail);
}

} // namespace gpuverbs

#endif
