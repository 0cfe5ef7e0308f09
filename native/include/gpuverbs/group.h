/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The submit path for more than one lane: a warp or a block makes one reservation, one publication and at most one doorbell
 * for all its requests. Device only.
 *
 * Lanes are always named by an explicit mask. A mask read from the hardware names whoever happens to run together: a warp that
 * was split by a spin would publish in pieces, and slower by an order of magnitude.
 */
#ifndef GPUVERBS_GROUP_H
#define GPUVERBS_GROUP_H

#include "submit.h"
#include "warp.h"

namespace gpuverbs {

/*
 * BITMAP by a whole warp: the leader announces, all lanes scan 32 words (1024 slots) at a time. Every lane of the full warp
 * calls; `base` and `next` are the same in all.
 */
template <uint32_t M>
GV_FN int64_t publish_bitmap_warp(const Queue& q, uint64_t base, uint64_t next) {
  const uint32_t lane = lane_id();
  if (lane == 0) {
    step_publish_release<M>();
    set_ready_bits<M>(q, base, next);
    step_announce_fence<M>();
  }
  sync_lanes(kFullWarp);
  /* The window that the scan will most likely start in, on its way while the announcement is. */
  uint32_t window = ready_bits<M>(q, (base & ~31ull) + 32 * lane);
  uint64_t word = 0;
  if (lane == 0) word = step_announce_add<M>(&q.sq->posted, 1);
  word = from_lane(kFullWarp, word, 0);
  if ((word & kAnnouncementMask) != 0) return GV_OK;

  uint64_t posted = widen_posted(word, base);
  uint32_t announced = 1;
  bool have_window = (posted >> 5) == (base >> 5);
  do {
    step_scan_acquire<M>();
    sync_lanes(kFullWarp); /* the leader alone has read the announcements; the bits behind them are for all lanes */
    uint64_t ready = posted;
    for (;;) {
      const uint64_t from = ready;
      for (;;) {
        const bool early = have_window;
        have_window = false;
        if (!early) window = ready_bits<M>(q, (ready & ~31ull) + 32 * lane);
        if (lane == 0) window |= low_bits(static_cast<uint32_t>(ready) & 31);
        const uint32_t gaps = ballot(kFullWarp, window != ~0u);
        uint64_t end = (ready & ~31ull) + 1024;
        if (gaps != 0) {
          const uint32_t lane_of_gap = first_one(gaps);
          end = (ready & ~31ull) + 32 * lane_of_gap + first_zero(from_lane(kFullWarp, window, lane_of_gap));
        }
        /*
         * A bit read before the announcement may be that of the lap before, where it means the opposite. Not so for slots whose last
         * use is known to be finished, a ring behind: up to there the first window counts, beyond it bits read afresh.
         */
        if (early && static_cast<int64_t>(end - next) > 0 &&
            static_cast<int64_t>(end - from_lane(kFullWarp, q.completed, 0) - q.depth) > 0)
          continue;
        ready = end;
        if (gaps != 0 || ready - posted >= q.depth) break;
      }
      if (ready - posted > q.depth) ready = posted + q.depth;
      if (ready == from) break;
      step_bits_acquire<M>(); /* I1, by every lane: each has read bits, which may not have been announced yet */
      sync_lanes(kFullWarp);  /* and the leader rings for all of them */
      if ((ready & 31) != 0 || ready - posted == q.depth) break;
      /* At a word's border the rest of a WQE may show now. */
    }
    if (lane == 0) {
      if (ready != posted) {
        relaxed_store64(&q.sq->ready_head, ready);
        ring<M>(q, ready);
      }
      const uint64_t change = ((ready - posted) << kAnnouncementBits) - announced;
      announced = static_cast<uint32_t>((step_retire_add<M>(&q.sq->posted, change) + change) & kAnnouncementMask);
      count64(&q.sq->scans, 1);
    }
    posted = ready;
    announced = from_lane(kFullWarp, announced, 0);
  } while (announced != 0);
  return GV_OK;
}

#if defined(GPUVERBS_CHECK)
/* EXCLUSIVE: the leader comes in for the lanes of the mask. Every lane gets the same answer. */
GV_FN int64_t enter_exclusive_warp(const Queue& q, uint32_t mask, uint32_t leader) {
  const bool agreed = ballot(mask, q.head != from_lane(mask, q.head, leader)) == 0;
  int64_t status = GV_OK;
  if (lane_id() == leader) status = enter_exclusive(q, agreed);
  return from_lane(mask, status, leader);
}
#else
GV_FN int64_t enter_exclusive_warp(const Queue&, uint32_t, uint32_t) { return GV_OK; }
#endif

/*
 * I5: the most slots that one reservation may take. A larger one may wait for ever, because what it waits for can lie behind a doorbell
 * or a completion that is due only further on.
 */
GV_FN uint32_t largest_group(const Queue& q) {
  const uint32_t batch = q.doorbell_every > q.signal_every ? q.doorbell_every : q.signal_every;
  return q.depth - batch + 1;
}

/* Reserves `total` slots by the leader of `mask`; every lane gets the base, or the status. */
template <uint32_t H, uint32_t M>
GV_FN int64_t reserve_warp(Queue& q, uint32_t mask, uint32_t total) {
  const uint32_t leader = first_one(mask);
  int64_t base = 0;
  if (H == GV_HANDOVER_EXCLUSIVE) {
    if (const int64_t status = enter_exclusive_warp(q, mask, leader)) return status;
    /* Every lane holds the index and what it knows of the ring's room, so that all take the same way. */
    base = static_cast<int64_t>(q.head);
    q.head += total;
    if (has_room(q, q.head)) return base;
    if (lane_id() == leader) {
      q.head -= total;
      base = reserve<H, M>(q, total);
      if (base < 0) leave_exclusive(q);
    }
    q.completed = from_lane(mask, q.completed, leader);
  } else if (lane_id() == leader) {
    base = reserve<H, M>(q, total);
  }
  return from_lane(mask, base, leader);
}

/* Reserves n slots for one lane, or for the block whose first thread it is. */
template <uint32_t H, uint32_t M>
GV_FN int64_t reserve_alone(Queue& q, uint32_t n) {
  if (H == GV_HANDOVER_EXCLUSIVE) {
    if (const int64_t status = enter_exclusive(q)) return status;
  }
  const int64_t base = reserve<H, M>(q, n);
  if (H == GV_HANDOVER_EXCLUSIVE && base < 0) leave_exclusive(q);
  return base;
}

/*
 * EXCLUSIVE in a kernel rings at every call, or every `doorbell_every` slots: then the tail is rung by ring_tail(), which every wait
 * calls (I3).
 */
template <uint32_t H>
GV_FN bool rings_now(Queue& q, uint64_t base, uint64_t next) {
  if (H != GV_HANDOVER_EXCLUSIVE) return true;
  const bool now = q.doorbell_every == 1 || crosses_border(q, base, next);
  if (now) q.rung = next;
  return now;
}

/* EXCLUSIVE: the doorbell for what has been published and not rung. One lane of the submitter calls. */
template <uint32_t H, uint32_t M>
GV_FN void ring_tail(Queue& q) {
  if (H != GV_HANDOVER_EXCLUSIVE || q.rung == q.head) return;
  if (enter_exclusive(q) != GV_OK) return; /* another's DBR is ahead of this view's */
  ring<M>(q, q.head);
  leave_exclusive(q);
  q.rung = q.head;
}

template <uint32_t H, uint32_t M>
GV_FN int64_t publish_warp(const Queue& q, uint32_t mask, uint64_t base, uint64_t next, bool tail) {
  sync_lanes(mask); /* the lanes' WQE writes before the leader's publication */
  if (H == GV_HANDOVER_BITMAP && mask == kFullWarp) return publish_bitmap_warp<M>(q, base, next);
  const uint32_t leader = first_one(mask);
  int64_t status = GV_OK;
  if (lane_id() == leader) {
    status = publish<H, M>(q, base, next, tail);
    if (H == GV_HANDOVER_EXCLUSIVE) leave_exclusive(q);
  }
  if (H == GV_HANDOVER_EXCLUSIVE) return GV_OK; /* nothing to wait for, so nothing to tell the others */
  /* One vote instead of a shuffle: it is nearly always all right. */
  return ballot(mask, status != GV_OK) == 0 ? static_cast<int64_t>(GV_OK) : from_lane(mask, status, leader);
}

/*
 * submit_warp where the lanes' requests together are more than one reservation may take: in parts, each as many whole requests as fit, in
 * the lanes' order. All lanes take part in each reservation and publication, so that an EXCLUSIVE view stays the same in all.
 */
template <uint32_t H, uint32_t M, class Write>
GV_FN int64_t submit_warp_parts(Queue& q, uint32_t mask, uint32_t blocks, uint32_t offset, uint32_t total,
                                Write write) {
  const uint32_t most = largest_group(q);
  int64_t ticket = GV_FULL;
  for (uint32_t from = 0; from < total;) {
    const bool mine = offset >= from && offset + blocks <= from + most;
    const uint32_t lanes = ballot(mask, mine);
    if (lanes == 0) return GV_FULL; /* a request that fits in no part; nothing of it is reserved */
    const uint32_t end = from_lane(mask, offset + blocks, last_one(lanes));
    const int64_t base = reserve_warp<H, M>(q, mask, end - from);
    if (base < 0) return base;
    const uint64_t first = static_cast<uint64_t>(base), next = first + (end - from);
    if (mine) {
      ticket = base + (offset - from);
      write(first + (offset - from));
    }
    const int64_t status = publish_warp<H, M>(q, mask, first, next, rings_now<H>(q, first, next));
    if (status != GV_OK) return status;
    from = end;
  }
  return ticket;
}

/* One request of `blocks` basic blocks from each lane of `mask`, all on the same queue. Returns this lane's ticket. */
template <uint32_t H, uint32_t M, class Write>
GV_FN int64_t submit_warp(Queue& q, uint32_t mask, uint32_t blocks, Write write) {
  uint32_t total;
  const uint32_t offset = sum_below(mask, blocks, &total);
  if (total > largest_group(q) && !GV_MUTANT(unsplit_group))
    return submit_warp_parts<H, M>(q, mask, blocks, offset, total, write);
  const int64_t base = reserve_warp<H, M>(q, mask, total);
  if (base < 0) return base;
  write(static_cast<uint64_t>(base) + offset);
  const uint64_t next = static_cast<uint64_t>(base) + total;
  const bool tail = rings_now<H>(q, static_cast<uint64_t>(base), next);
  const int64_t status = publish_warp<H, M>(q, mask, static_cast<uint64_t>(base), next, tail);
  return status == GV_OK ? base + offset : status;
}

/* The same with one basic block a lane. A queue has room for a whole warp (I5): its handle is not given out otherwise. */
template <uint32_t H, uint32_t M, class Write>
GV_FN int64_t submit_warp_single(Queue& q, uint32_t mask, Write write) {
  const uint32_t offset = count_ones(mask & lanes_below());
  const uint32_t total = count_ones(mask);
  const int64_t base = reserve_warp<H, M>(q, mask, total);
  if (base < 0) return base;
  write(static_cast<uint64_t>(base) + offset);
  const uint64_t next = static_cast<uint64_t>(base) + total;
  const bool tail = rings_now<H>(q, static_cast<uint64_t>(base), next);
  const int64_t status = publish_warp<H, M>(q, mask, static_cast<uint64_t>(base), next, tail);
  return status == GV_OK ? base + offset : status;
}

/* One request of one basic block or more from this lane alone. */
template <uint32_t H, uint32_t M, class Write>
GV_FN int64_t submit_lane(Queue& q, uint32_t blocks, Write write) {
  const int64_t base = reserve_alone<H, M>(q, blocks);
  if (base < 0) return base;
  write(static_cast<uint64_t>(base));
  const uint64_t next = static_cast<uint64_t>(base) + blocks;
  const bool tail = rings_now<H>(q, static_cast<uint64_t>(base), next);
  const int64_t status = publish<H, M>(q, static_cast<uint64_t>(base), next, tail);
  if (H == GV_HANDOVER_EXCLUSIVE) leave_exclusive(q);
  return status == GV_OK ? base : status;
}

/* Publishes `count` slots from `base` on, which threads of the block have written. Every thread of the block calls, and gets the status. */
template <uint32_t H, uint32_t M>
GV_FN int64_t publish_block(Queue& q, int64_t* shared, uint64_t base, uint32_t count) {
  const uint32_t thread = thread_in_block();
  const uint64_t next = base + count;
  sync_block();
  if (thread < 32) {
    const bool whole = threads_in_block() >= 32;
    int64_t status = GV_OK;
    if (H == GV_HANDOVER_BITMAP && whole)
      status = publish_bitmap_warp<M>(q, base, next);
    else if (thread == 0)
      status = publish<H, M>(q, base, next, rings_now<H>(q, base, next));
    if (thread == 0) {
      if (H == GV_HANDOVER_EXCLUSIVE) leave_exclusive(q);
      *shared = status;
    }
  }
  sync_block();
  const int64_t status = *shared;
  sync_block(); /* the word is free again */
  return status;
}

/* submit_block for a block that is larger than one reservation may be: in parts, in the threads' order. */
template <uint32_t H, uint32_t M, class Write>
GV_FN int64_t submit_block_parts(Queue& q, int64_t* shared, Write write) {
  const uint32_t thread = thread_in_block();
  const uint32_t total = threads_in_block();
  const uint32_t most = largest_group(q);
  int64_t ticket = GV_FULL;
  for (uint32_t first = 0; first < total; first += most) {
    const uint32_t count = total - first < most ? total - first : most;
    if (thread == 0) *shared = reserve_alone<H, M>(q, count);
    sync_block();
    const int64_t base = *shared;
    if (base >= 0 && thread - first < count) {
      ticket = base + (thread - first);
      write(static_cast<uint64_t>(ticket));
    }
    if (base < 0) {
      sync_block(); /* the word is free again */
      return base;
    }
    const int64_t status = publish_block<H, M>(q, shared, static_cast<uint64_t>(base), count);
    if (status != GV_OK) return status;
  }
  return ticket;
}

/* What submit_block's first thread says of a block that is larger than one reservation may be. No status of a queue. */
constexpr int64_t kInParts = -1000;

/* One request of one basic block from every thread of the block; `shared` is one word in shared memory. */
template <uint32_t H, uint32_t M, class Write>
GV_FN int64_t submit_block(Queue& q, int64_t* shared, Write write) {
  const uint32_t thread = thread_in_block();
  const uint32_t total = threads_in_block();
  if (thread == 0)
    *shared = total > largest_group(q) && !GV_MUTANT(unsplit_group) ? kInParts : reserve_alone<H, M>(q, total);
  sync_block();
  const int64_t base = *shared;
  if (base < 0) {
    sync_block(); /* the word is free again */
    return base == kInParts ? submit_block_parts<H, M>(q, shared, write) : base;
  }
  write(static_cast<uint64_t>(base) + thread);
  const int64_t status = publish_block<H, M>(q, shared, static_cast<uint64_t>(base), total);
  return status == GV_OK ? base + thread : status;
}

} // namespace gpuverbs

#endif
