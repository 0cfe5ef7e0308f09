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

/* Reserves `total` slots by the leader of `mask`; every lane gets the base, or the status. */
template <uint32_t H, uint32_t M>
GV_FN int64_t reserve_warp(Queue& q, uint32_t mask, uint32_t total) {
  const uint32_t leader = first_one(mask);
  int64_t base = 0;
  if (H == GV_HANDOVER_EXCLUSIVE) {
    /* Every lane holds the index and what it knows of the ring's room, so that all take the same way. */
    base = static_cast<int64_t>(q.head);
    q.head += total;
    if (has_room(q, q.head)) return base;
    if (lane_id() == leader) {
      q.head -= total;
      base = reserve<H, M>(q, total);
    }
    q.completed = from_lane(mask, q.completed, leader);
  } else if (lane_id() == leader) {
    base = reserve<H, M>(q, total);
  }
  return from_lane(mask, base, leader);
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
  ring<M>(q, q.head);
  q.rung = q.head;
}

template <uint32_t H, uint32_t M>
GV_FN int64_t publish_warp(const Queue& q, uint32_t mask, uint64_t base, uint64_t next, bool tail) {
  sync_lanes(mask); /* the lanes' WQE writes before the leader's publication */
  if (H == GV_HANDOVER_BITMAP && mask == kFullWarp) return publish_bitmap_warp<M>(q, base, next);
  const uint32_t leader = first_one(mask);
  int64_t status = GV_OK;
  if (lane_id() == leader) status = publish<H, M>(q, base, next, tail);
  if (H == GV_HANDOVER_EXCLUSIVE) return GV_OK; /* nothing to wait for, so nothing to tell the others */
  /* One vote instead of a shuffle: it is nearly always all right. */
  return ballot(mask, status != GV_OK) == 0 ? static_cast<int64_t>(GV_OK) : from_lane(mask, status, leader);
}

/* One request of `blocks` basic blocks from each lane of `mask`, all on the same queue. Returns this lane's ticket. */
template <uint32_t H, uint32_t M, class Write>
GV_FN int64_t submit_warp(Queue& q, uint32_t mask, uint32_t blocks, Write write) {
  uint32_t total;
  const uint32_t offset = sum_below(mask, blocks, &total);
  const int64_t base = reserve_warp<H, M>(q, mask, total);
  if (base < 0) return base;
  write(static_cast<uint64_t>(base) + offset);
  const uint64_t next = static_cast<uint64_t>(base) + total;
  const bool tail = rings_now<H>(q, static_cast<uint64_t>(base), next);
  const int64_t status = publish_warp<H, M>(q, mask, static_cast<uint64_t>(base), next, tail);
  return status == GV_OK ? base + offset : status;
}

/* The same with one basic block a lane. */
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

/* One request of one basic block from this lane alone. */
template <uint32_t H, uint32_t M, class Write>
GV_FN int64_t submit_lane(Queue& q, uint32_t blocks, Write write) {
  const int64_t base = reserve<H, M>(q, blocks);
  if (base < 0) return base;
  write(static_cast<uint64_t>(base));
  const uint64_t next = static_cast<uint64_t>(base) + blocks;
  const bool tail = rings_now<H>(q, static_cast<uint64_t>(base), next);
  const int64_t status = publish<H, M>(q, static_cast<uint64_t>(base), next, tail);
  return status == GV_OK ? base : status;
}

/* One request of one basic block from every thread of the block; `shared` is one word in shared memory. */
template <uint32_t H, uint32_t M, class Write>
GV_FN int64_t submit_block(Queue& q, int64_t* shared, Write write) {
  const uint32_t thread = thread_in_block();
  const uint32_t total = threads_in_block();
  if (thread == 0) *shared = reserve<H, M>(q, total);
  sync_block();
  const int64_t base = *shared;
  if (base >= 0) write(static_cast<uint64_t>(base) + thread);
  sync_block();
  if (base < 0) return base;
  const uint64_t next = static_cast<uint64_t>(base) + total;
  if (thread < 32) {
    const bool whole = total >= 32;
    int64_t status = GV_OK;
    if (H == GV_HANDOVER_BITMAP && whole)
      status = publish_bitmap_warp<M>(q, static_cast<uint64_t>(base), next);
    else if (thread == 0)
      status = publish<H, M>(q, static_cast<uint64_t>(base), next, rings_now<H>(q, static_cast<uint64_t>(base), next));
    if (thread == 0) *shared = status;
  }
  sync_block();
  const int64_t status = *shared;
  sync_block(); /* the word is free again */
  return status == GV_OK ? base + thread : status;
}

} // namespace gpuverbs

#endif
