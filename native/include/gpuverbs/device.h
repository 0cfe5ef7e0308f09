/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpuverbs in a CUDA kernel: #include <gpuverbs/device.h>.
 *
 *   __global__ void kernel(gv_sq* handle, ...) {
 *     gpuverbs::Sender<GV_HANDOVER_TURN_CAS, GV_FENCE_SYSTEM> qp(handle);   // or gpuverbs::QueuePair qp(handle): policy at run time
 *     int64_t ticket = qp.put(remote, rkey, local, lkey, bytes);
 *     int64_t status = qp.wait(ticket, timeout_ns);
 *   }
 *
 * The handle is QueuePair.deviceHandle() in Java. Make one Sender per thread, keep it for the kernel's life. Every call returns a ticket (>= 0) or a negative GV_* status, and none waits
 * without a bound: a queue in error, a closed handle or the queue's submit timeout ends it.
 *
 * Scopes. thread: this lane's request; when all 32 lanes of the warp call together for the same queue they share one reservation and
 * one doorbell. warp: the lanes of an explicit mask, each with its request. block: every thread of the block, each with its
 * request. What is more than one reservation may take (depth - max(doorbell every, completion every) + 1 slots) is submitted in parts.
 * A wider form after a narrower one needs its threads out of that one: __syncwarp(mask) before warp scope, __syncthreads() before
 * put_block(). Else its leader may have reserved while another of its threads waits for a turn behind that reservation, until the submit timeout.
 *
 * EXCLUSIVE. Such a queue has one submitter, whose Sender carries the next index; no other thread is told of it. A submitter is
 *   one thread   thread scope, no other lane of the warp calling with it;
 *   one warp     warp scope with the same mask every time, or thread scope by all 32 lanes converged (__syncwarp() before);
 *   one block    put_block() alone, and test() or wait() with thread 0; the index is thread 0's.
 * Forms are not mixed, and each keeps its Senders. Thread scope by 2 to 31 lanes at once (a warp that has diverged, a block of fewer than 32
 * threads) is that many submitters with the same next index: they write the same slots. So are two warps, each with its Sender.
 * To hand the queue on to another submitter: flush(), then a barrier, or a release and an acquire, between both; then the other
 * makes its Sender, or calls resume() on the one it has.
 * Nothing of this is checked, because a check costs as much as the atomics that EXCLUSIVE saves; define GPUVERBS_CHECK before the include (or
 * compile with -DGPUVERBS_CHECK), and a second submitter sets the queue's ERROR and gets GV_QP_ERROR (exclusive.h).
 *
 * Completion. A ticket can be waited for if its request was signalled (GV_FLAG_SIGNALED); quiet() signals by itself. An EXCLUSIVE
 * queue with a doorbell every N rings the tail in test(), wait() and quiet(), so a kernel ends with one of them.
 */
#ifndef GPUVERBS_DEVICE_H
#define GPUVERBS_DEVICE_H

#include "group.h"

namespace gpuverbs {

template <uint32_t H, uint32_t M>
class Sender {
 public:
  GV_FN_METHOD explicit Sender(gv_sq* handle) : q_(view_of(handle)) {}

  /* ---- thread scope: one request ---- */

  /* RDMA WRITE of `bytes` (0 .. 2^30) from registered local to remote memory. */
  GV_FN_METHOD int64_t put(uint64_t remote, uint32_t rkey, uint64_t local, uint32_t lkey, uint32_t bytes,
                           uint32_t flags = 0) {
    return together(WriteRequest{q_, remote, local, rkey, lkey, bytes, flags, kRdmaWrite, 0});
  }

  GV_FN_METHOD int64_t put_immediate(uint64_t remote, uint32_t rkey, uint64_t local, uint32_t lkey, uint32_t bytes,
                                     uint32_t immediate, uint32_t flags = 0) {
    return together(WriteRequest{q_, remote, local, rkey, lkey, bytes, flags, kRdmaWriteImm, immediate});
  }

  /* RDMA READ: the bytes are in local memory once the ticket is done (fetch_fence() makes them visible to this kernel). */
  GV_FN_METHOD int64_t get(uint64_t local, uint32_t lkey, uint64_t remote, uint32_t rkey, uint32_t bytes,
                           uint32_t flags = 0) {
    return together(WriteRequest{q_, remote, local, rkey, lkey, bytes, flags, kRdmaRead, 0});
  }

  /* Inline WRITE of one 64-bit value: it travels in the WQE, no local memory is named. */
  GV_FN_METHOD int64_t put_value(uint64_t remote, uint32_t rkey, uint64_t value, uint32_t flags = 0) {
    return together(ValueRequest{q_, remote, rkey, value, flags});
  }

  /* remote += add; the old value lands in the 8 bytes at `local`, 8-byte aligned both. */
  GV_FN_METHOD int64_t fetch_add(uint64_t remote, uint32_t rkey, uint64_t add, uint64_t local, uint32_t lkey,
                                 uint32_t flags = 0) {
    return together(AtomicRequest{q_, remote, local, rkey, lkey, add, 0, flags, kAtomicFa});
  }

  GV_FN_METHOD int64_t compare_swap(uint64_t remote, uint32_t rkey, uint64_t compare, uint64_t swap, uint64_t local,
                                    uint32_t lkey, uint32_t flags = 0) {
    return together(AtomicRequest{q_, remote, local, rkey, lkey, swap, compare, flags, kAtomicCs});
  }

  /* A put, then a 64-bit add to a remote signal word, in this order at the receiver (RC). Returns the signal's ticket. */
  GV_FN_METHOD int64_t put_signal(uint64_t remote, uint32_t rkey, uint64_t local, uint32_t lkey, uint32_t bytes,
                                  uint64_t signal, uint32_t signal_rkey, uint64_t add, uint64_t scratch,
                                  uint32_t scratch_lkey) {
    const WriteRequest data{q_, remote, local, rkey, lkey, bytes, 0, kRdmaWrite, 0};
    const AtomicRequest flag{q_, signal, scratch, signal_rkey, scratch_lkey, add, 0, GV_FLAG_SIGNALED, kAtomicFa};
    const auto both = [&](uint64_t index) {
      data(index);
      flag(index + 1);
    };
    int64_t first;
    if (active_lanes() == kFullWarp)
      /* By the warp, as put() does: an EXCLUSIVE queue's lanes must agree on the next index. */
      first = submit_warp<H, M>(q_, lanes_with(kFullWarp, reinterpret_cast<uint64_t>(q_.sq)), 2, both);
    else
      first = submit_lane<H, M>(q_, 2, both);
    return first < 0 ? first : first + 1;
  }

  /* ---- warp scope: the lanes of `mask`, each with its request, all on this queue ---- */

  GV_FN_METHOD int64_t put_warp(uint32_t mask, uint64_t remote, uint32_t rkey, uint64_t local, uint32_t lkey,
                                uint32_t bytes, uint32_t flags = 0) {
    return warp(mask, WriteRequest{q_, remote, local, rkey, lkey, bytes, flags, kRdmaWrite, 0});
  }

  GV_FN_METHOD int64_t fetch_add_warp(uint32_t mask, uint64_t remote, uint32_t rkey, uint64_t add, uint64_t local,
                                      uint32_t lkey, uint32_t flags = 0) {
    return warp(mask, AtomicRequest{q_, remote, local, rkey, lkey, add, 0, flags, kAtomicFa});
  }

  /* ---- block scope: every thread with its request; `shared` is one 64-bit word of shared memory ---- */

  GV_FN_METHOD int64_t put_block(int64_t* shared, uint64_t remote, uint32_t rkey, uint64_t local, uint32_t lkey,
                                 uint32_t bytes, uint32_t flags = 0) {
    WriteRequest r{q_, remote, local, rkey, lkey, bytes, flags, kRdmaWrite, 0};
    return submit_block<H, M>(q_, shared, r);
  }

  /* ---- completion ---- */

  /* GV_OK, GV_PENDING, a positive syndrome, or a negative status. Of a negative ticket: the same. */
  GV_FN_METHOD int64_t test(int64_t ticket) {
    if (ticket < 0) return ticket;
    cover_tail();
    return poll_ticket<M>(q_, static_cast<uint64_t>(ticket));
  }

  /* Waits for a ticket of a signalled request, at most timeout_ns. GV_TIMEOUT changes nothing on the queue. */
  GV_FN_METHOD int64_t wait(int64_t ticket, uint64_t timeout_ns) {
    const uint64_t end = now_ns() + timeout_ns;
    for (uint32_t tries = 1;; tries++) {
      const int64_t status = test(ticket);
      if (status != GV_PENDING) return status;
      if ((tries & 255) == 0 && closed()) return GV_CLOSED;
      if (now_ns() > end) return GV_TIMEOUT;
    }
  }

  /* Waits until all that this thread has submitted before is finished (RC finishes in order): a signalled NOP, and its ticket. */
  GV_FN_METHOD int64_t quiet(uint64_t timeout_ns) { return wait(together(NopRequest{q_}), timeout_ns); }

  /*
   * Waits until the word that peers add to or write, at `word` in memory of this GPU or pinned, has reached `value` (as a signed
   * distance). What was put before the signal is visible behind it.
   */
  GV_FN_METHOD int64_t wait_signal(const uint64_t* word, uint64_t value, uint64_t timeout_ns) {
    const uint64_t end = now_ns() + timeout_ns;
    cover_tail();
    for (uint32_t tries = 1;; tries++) {
      const uint32_t state = state_of(q_);
      const uint64_t seen = acquire_load64(word);
      if (static_cast<int64_t>(seen - value) >= 0) return GV_OK;
      if (state != GV_STATE_RTS) return status_of_state(state);
      /* An error that no submitter has looked for yet stands in the CQE alone. */
      if ((tries & 255) == 0) {
        if (closed()) return GV_CLOSED;
        refresh_completed<M>(q_, q_.completed);
      }
      if (now_ns() > end) return GV_TIMEOUT;
    }
  }

  /* After a get or an atomic is done: orders this thread's reads of the fetched bytes behind its completion. */
  GV_FN_METHOD void fetch_fence() { system_fence(); }

  /* EXCLUSIVE: the doorbell for what no border has rung, by one of the lanes that are here. test(), wait() and quiet() do it. */
  GV_FN_METHOD void flush() { cover_tail(); }

  /*
   * EXCLUSIVE: reads the next index again, to go on where another submitter has stopped: behind its flush() and whatever orders that before
   * this call. By every lane that will submit.
   */
  GV_FN_METHOD void resume() {
    q_.head = relaxed_load64(&q_.sq->resv_head);
    q_.rung = q_.head;
  }

  GV_FN_METHOD Queue& view() { return q_; }

 private:
  GV_FN_METHOD static uint64_t acquire_load64(const uint64_t* word) {
#if GV_ON_DEVICE
    uint64_t seen;
    asm volatile("ld.acquire.sys.global.b64 %0, [%1];" : "=l"(seen) : "l"(word) : "memory");
    return seen;
#else
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
#endif
  }

  GV_FN_METHOD static void system_fence() {
#if GV_ON_DEVICE
    asm volatile("fence.acq_rel.sys;" ::: "memory");
#else
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
#endif
  }

  /* EXCLUSIVE: the doorbell for what no border has rung, by one of the lanes that are here. */
  GV_FN_METHOD void cover_tail() {
    if (H != GV_HANDOVER_EXCLUSIVE || q_.rung == q_.head) return;
    if (lane_id() == first_one(active_lanes())) ring_tail<H, M>(q_);
    q_.rung = q_.head;
  }

  GV_FN_METHOD bool closed() {
    const uint64_t control = constant64(&q_.sq->host_control);
    return control != 0 && host_load64(reinterpret_cast<const uint64_t*>(control)) != 0;
  }

  GV_FN_METHOD static uint32_t control_flags(const Queue& q, uint64_t index, uint32_t blocks, uint32_t flags) {
    return ((flags & GV_FLAG_SIGNALED) != 0 || covers_signal_slot(index, blocks, q.signal_every) ? kCqUpdate : 0) |
           ((flags & GV_FLAG_SOLICITED) != 0 ? kSolicited : 0) | ((flags & GV_FLAG_FENCE) != 0 ? kFence : 0);
  }

  struct WriteRequest {
    const Queue& q;
    uint64_t remote, local;
    uint32_t rkey, lkey, bytes, flags, opcode, immediate;
    template <uint32_t S>
    GV_FN_METHOD void write(uint64_t index) const {
      put_remote<S>(q, index, 1, remote, rkey);
      /* A byte count of zero means 2^31 to the NIC: an empty message has no data segment. */
      if (bytes != 0) put_data<S>(q, index, 2, bytes, lkey, local);
      put_control<S>(q, index, opcode, bytes != 0 ? 3 : 2, control_flags(q, index, 1, flags), immediate);
    }
    GV_FN_METHOD void operator()(uint64_t index) const { write<M>(index); }
  };

  struct NopRequest {
    const Queue& q;
    GV_FN_METHOD void operator()(uint64_t index) const { put_control<M>(q, index, kNop, 1, kCqUpdate, 0); }
  };

  struct ValueRequest {
    const Queue& q;
    uint64_t remote;
    uint32_t rkey;
    uint64_t value;
    uint32_t flags;
    GV_FN_METHOD void operator()(uint64_t index) const {
      put_remote<M>(q, index, 1, remote, rkey);
      put_unit<M>(q, index, 2, be32(8 | kInline), static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32), 0);
      put_control<M>(q, index, kRdmaWrite, 3, control_flags(q, index, 1, flags), 0);
    }
  };

  struct AtomicRequest {
    const Queue& q;
    uint64_t remote, local;
    uint32_t rkey, lkey;
    uint64_t swap_or_add, compare;
    uint32_t flags, opcode;
    template <uint32_t S>
    GV_FN_METHOD void write(uint64_t index) const {
      put_remote<S>(q, index, 1, remote, rkey);
      put_atomic<S>(q, index, 2, swap_or_add, compare);
      put_data<S>(q, index, 3, 8, lkey, local);
      put_control<S>(q, index, opcode, 4, control_flags(q, index, 1, flags), 0);
    }
    GV_FN_METHOD void operator()(uint64_t index) const { write<M>(index); }
  };

  /* Thread scope: one submission for the warp where all of it is here for the same queue, else one for this lane. */
  template <class R>
  GV_FN_METHOD int64_t together(const R& r) {
    if (active_lanes() == kFullWarp) {
      const uint32_t mine = lanes_with(kFullWarp, reinterpret_cast<uint64_t>(q_.sq));
      return submit_warp_single<H, M>(q_, mine, r);
    }
    return submit_lane<H, M>(q_, 1, r);
  }

  template <class R>
  GV_FN_METHOD int64_t warp(uint32_t mask, const R& r) {
    return submit_warp_single<H, M>(q_, mask, r);
  }

  Queue q_;
};

/*
 * The same with the policy read from the handle, the unchecked ones too: one kernel for every queue. Each call loads the queue's words
 * again, so a kernel that submits in a loop is better off with a Sender. On an EXCLUSIVE queue one thread calls, or 32 lanes converged.
 * A handle with a hand-over that these headers don't know gives GV_QP_ERROR.
 */
class QueuePair {
 public:
  GV_FN_METHOD explicit QueuePair(gv_sq* handle) : handle_(handle) {}

  GV_FN_METHOD int64_t put(uint64_t remote, uint32_t rkey, uint64_t local, uint32_t lkey, uint32_t bytes,
                           uint32_t flags = 0) {
    return by_policy([&](auto& s) { return s.put(remote, rkey, local, lkey, bytes, flags); });
  }

  GV_FN_METHOD int64_t get(uint64_t local, uint32_t lkey, uint64_t remote, uint32_t rkey, uint32_t bytes,
                           uint32_t flags = 0) {
    return by_policy([&](auto& s) { return s.get(local, lkey, remote, rkey, bytes, flags); });
  }

  GV_FN_METHOD int64_t put_value(uint64_t remote, uint32_t rkey, uint64_t value, uint32_t flags = 0) {
    return by_policy([&](auto& s) { return s.put_value(remote, rkey, value, flags); });
  }

  GV_FN_METHOD int64_t fetch_add(uint64_t remote, uint32_t rkey, uint64_t add, uint64_t local, uint32_t lkey,
                                 uint32_t flags = 0) {
    return by_policy([&](auto& s) { return s.fetch_add(remote, rkey, add, local, lkey, flags); });
  }

  GV_FN_METHOD int64_t put_signal(uint64_t remote, uint32_t rkey, uint64_t local, uint32_t lkey, uint32_t bytes,
                                  uint64_t signal, uint32_t signal_rkey, uint64_t add, uint64_t scratch,
                                  uint32_t scratch_lkey) {
    return by_policy([&](auto& s) {
      return s.put_signal(remote, rkey, local, lkey, bytes, signal, signal_rkey, add, scratch, scratch_lkey);
    });
  }

  GV_FN_METHOD int64_t test(int64_t ticket) {
    return by_policy([&](auto& s) { return s.test(ticket); });
  }

  GV_FN_METHOD int64_t wait(int64_t ticket, uint64_t timeout_ns) {
    return by_policy([&](auto& s) { return s.wait(ticket, timeout_ns); });
  }

  GV_FN_METHOD int64_t quiet(uint64_t timeout_ns) {
    return by_policy([&](auto& s) { return s.quiet(timeout_ns); });
  }

  GV_FN_METHOD int64_t wait_signal(const uint64_t* word, uint64_t value, uint64_t timeout_ns) {
    return by_policy([&](auto& s) { return s.wait_signal(word, value, timeout_ns); });
  }

 private:
  template <uint32_t H, class F>
  GV_FN_METHOD int64_t in_mode(F& f) {
    /* The view is made afresh, in each lane for itself: not before the leader has stored the index of the call before. */
    if (H == GV_HANDOVER_EXCLUSIVE && active_lanes() == kFullWarp) sync_lanes(kFullWarp);
    if (constant32(&handle_->fence_mode) == GV_FENCE_DEVICE) {
      Sender<H, GV_FENCE_DEVICE> s(handle_);
      return finish(s, f(s));
    }
    Sender<H, GV_FENCE_SYSTEM> s(handle_);
    return finish(s, f(s));
  }

  /* The Sender that knows what is not rung yet ends here (I3). */
  template <class S>
  GV_FN_METHOD static int64_t finish(S& s, int64_t status) {
    s.flush();
    return status;
  }

  template <class F>
  GV_FN_METHOD int64_t by_policy(F f) {
    switch (constant32(&handle_->handover)) {
      case GV_HANDOVER_CLASSIC:
        return in_mode<GV_HANDOVER_CLASSIC>(f);
      case GV_HANDOVER_TURN_CAS:
        return in_mode<GV_HANDOVER_TURN_CAS>(f);
      case GV_HANDOVER_TURN_LDST:
        return in_mode<GV_HANDOVER_TURN_LDST>(f);
      case GV_HANDOVER_BITMAP:
        return in_mode<GV_HANDOVER_BITMAP>(f);
      case GV_HANDOVER_EXCLUSIVE:
        return in_mode<GV_HANDOVER_EXCLUSIVE>(f);
      case GV_HANDOVER_UNCHECKED_NOLOCK:
        return in_mode<GV_HANDOVER_UNCHECKED_NOLOCK>(f);
      case GV_HANDOVER_UNCHECKED_RELAXED:
        return in_mode<GV_HANDOVER_UNCHECKED_RELAXED>(f);
      default:
        return GV_QP_ERROR;
    }
  }

  gv_sq* handle_;
};

} // namespace gpuverbs

#endif
