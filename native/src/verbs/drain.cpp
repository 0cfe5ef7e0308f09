// SPDX-License-Identifier: Apache-2.0
// The proxy's send half and its thread. The thread is a native one: a pass is a few loads and function pointers per queue pair, which a
// downcall each would multiply, and it must go on while the collector holds Java's threads. One thread a device, so that
// the order of work is that of the rings and no verbs object has two users.
#include <poll.h>
#include <sched.h>
#include <time.h>

#include <cerrno>

#include "direct.h"
#include "gpuverbs/completion.h"
#include "proxy.h"

namespace gpuverbs::verbs {

namespace {

constexpr int kBatch = 32;          // work requests of one post, and completions of one poll
constexpr uint32_t kPassWqes = 256; // a pass ends after so many, so that other queue pairs get their turn
constexpr uint32_t kLocalQpOperation = 0x02;
constexpr uint32_t kFlushed = 0x05;
constexpr uint32_t kAnyFence = 0xe0; // rdma-core's 0x80, small fence 0x20, strong ordering 0x60

Entry& entry(gv_proxy* p, uint64_t position) { return p->entries[position & (p->queue->depth - 1)]; }

uint32_t sop_qpn(const gv_proxy* p, const Entry& e) { return static_cast<uint32_t>(e.opcode) << 24 | p->qp->qp_num; }

void error_cqe(gv_proxy* p, const Entry& e, uint32_t syndrome, uint32_t vendor) {
  if (p->send_cq != nullptr) {
    put_cqe(p->send_cq, kCqeRequestError, false, sop_qpn(p, e), static_cast<uint16_t>(e.index), 0, 0,
            static_cast<uint8_t>(syndrome), static_cast<uint8_t>(vendor));
  } else if (!p->latched) {
    p->pending = false; // the error stands for the successes before it as well
    write_cqe(reinterpret_cast<uint8_t*>(p->queue->cqe), kCqeRequestError << 4, sop_qpn(p, e),
              static_cast<uint16_t>(e.index), 0, 0, static_cast<uint8_t>(syndrome), static_cast<uint8_t>(vendor));
  }
  p->latched = true;
}

// The oldest entry is over.
void retire(gv_proxy* p, uint32_t syndrome, uint32_t vendor) {
  const Entry e = entry(p, p->head);
  if (!e.local) p->posted--;
  if (syndrome != 0) {
    error_cqe(p, e, syndrome, vendor);
    break_down(p);
  } else if (e.signaled) {
    if (p->send_cq == nullptr) {
      p->last = e;
      p->pending = true;
    } else if (!put_cqe(p->send_cq, kCqeRequest, false, sop_qpn(p, e), static_cast<uint16_t>(e.index), e.bytes, 0, 0,
                        0)) {
      break_down(p);
    }
  }
  p->head++;
}

// What was never posted is over as soon as all before it are.
void retire_locals(gv_proxy* p) {
  while (p->head != p->tail && entry(p, p->head).local)
    retire(p, p->state == GV_STATE_ERROR ? kFlushed : entry(p, p->head).syndrome, 0);
}

bool poll_sends(gv_proxy* p) {
  Wc wcs[kBatch];
  bool moved = false;
  int n;
  do {
    n = p->v->context->ops.poll_cq(p->sends, kBatch, wcs);
    for (int i = 0; i < n; i++) {
      const uint64_t position = p->head + ((wcs[i].wr_id - p->head) & 0xffffffffffffull);
      if (stale(p, wcs[i].wr_id) || position - p->head >= p->tail - p->head) continue;
      // Each posted one has its own completion, so what is before it was not posted.
      while (p->head < position) retire(p, p->latched ? kFlushed : entry(p, p->head).syndrome, 0);
      retire(p, wcs[i].status == kWcSuccess ? 0 : syndrome_of(wcs[i].status), wcs[i].vendor_err);
      retire_locals(p);
    }
    moved |= n > 0;
  } while (n == kBatch);
  retire_locals(p);
  return moved;
}

// Takes the doorbell, if one was rung, and then reads the DBR. `again`: reads it in any case, because the doorbell is a word in memory:
// an earlier one that arrives late may overwrite a later one, and the DBR beside it may still be the earlier one too (ORDERING.md).
bool take_doorbell(gv_proxy* p, bool again) {
  auto* doorbell = reinterpret_cast<uint64_t*>(p->queue->doorbell);
  bool rung = false;
  if (__atomic_load_n(doorbell, __ATOMIC_RELAXED) != 0) {
    const uint64_t word = __builtin_bswap64(__atomic_exchange_n(doorbell, 0, __ATOMIC_ACQ_REL));
    // Both conventions, producer index or a WQE's first 8 bytes, have the QP number here; the index is the DBR's.
    rung = (static_cast<uint32_t>(word) >> 8) == p->qp->qp_num;
  }
  if (!rung && !again) return false;
  const uint32_t record =
      __builtin_bswap32(__atomic_load_n(reinterpret_cast<uint32_t*>(p->queue->dbr) + 1, __ATOMIC_ACQUIRE));
  const int32_t ahead = static_cast<int16_t>(static_cast<uint16_t>(record - static_cast<uint32_t>(p->next)));
  if (ahead <= 0) return false; // an old doorbell
  const uint64_t produced = p->next + static_cast<uint32_t>(ahead);
  if (produced - p->finished() > p->queue->depth) {
    break_down(p); // more than the ring holds
    return true;
  }
  if (produced > p->produced) p->produced = produced;
  return true;
}

const uint8_t* unit_at(const gv_proxy* p, uint64_t index, uint32_t unit) {
  const uint64_t block = (index + unit / 4) & (p->queue->depth - 1);
  return reinterpret_cast<const uint8_t*>(p->queue->ring) + block * GV_WQEBB + (unit & 3) * 16;
}

uint32_t blocks(uint32_t ds) { return (ds + 3) / 4; }

// Reads the data of a WQE from unit `from` on. False if it is malformed or has more pieces than the device takes.
bool gather(gv_proxy* p, uint64_t index, uint32_t from, uint32_t ds, SendWr* wr, Sge* sges, uint64_t* bytes) {
  const uint64_t ring = p->queue->ring;
  const uint64_t end = ring + static_cast<uint64_t>(p->queue->depth) * GV_WQEBB;
  bool all_inline = true;
  auto add = [&](uint64_t address, uint32_t length, uint32_t lkey) {
    if (wr->num_sge == static_cast<int>(p->cap.max_send_sge) || wr->num_sge == static_cast<int>(kMaxSegments))
      return false;
    sges[wr->num_sge++] = Sge{address, length, lkey};
    *bytes += length;
    return true;
  };
  uint32_t unit = from;
  while (unit < ds) {
    const uint8_t* at = unit_at(p, index, unit);
    const uint64_t first = load_be64(at);
    const uint32_t count = static_cast<uint32_t>(first >> 32);
    if ((count & kInline) == 0) {
      all_inline = false;
      if (count == 0 || !add(load_be64(at + 8), count, static_cast<uint32_t>(first))) return false; // 0 means 2^31
      unit++;
      continue;
    }
    const uint32_t length = count & ~kInline;
    unit += (4 + length + 15) / 16;
    if (unit > ds) return false;
    // In the slot, which stays as it is until the completion; at the ring's end it goes on at the start.
    const uint64_t begin = reinterpret_cast<uint64_t>(at) + 4;
    const uint64_t before = begin + length <= end ? length : end - begin;
    if (before != 0 && !add(begin, static_cast<uint32_t>(before), p->ring_mr->lkey)) return false;
    if (before < length && !add(ring, static_cast<uint32_t>(length - before), p->ring_mr->lkey)) return false;
  }
  if (all_inline && *bytes > 0 && *bytes <= p->cap.max_inline_data) wr->send_flags |= kSendInline;
  return true;
}

enum class Kind { kPost, kLocal, kWrong };

Kind translate(gv_proxy* p, Entry* e, uint32_t ds, SendWr* wr, Sge* sges) {
  uint32_t unit = 1;
  uint64_t bytes = 0;
  const uint8_t* remote = unit_at(p, e->index, 1);
  switch (e->opcode) {
    case kNop:
    case kDump:
      return Kind::kLocal;
    case kSend:
      wr->opcode = kWrSend;
      break;
    case gpuverbs::kSendImm:
      wr->opcode = verbs::kWrSendImm;
      break;
    case kRdmaWrite:
      wr->opcode = kWrWrite;
      break;
    case kRdmaWriteImm:
      wr->opcode = kWrWriteImm;
      break;
    case kRdmaRead:
      wr->opcode = kWrRead;
      break;
    case kAtomicCs:
      wr->opcode = kWrCompareSwap;
      break;
    case kAtomicFa:
      wr->opcode = kWrFetchAdd;
      break;
    default:
      return Kind::kWrong; // masked atomics among them, which verbs has not
  }
  if (e->opcode == kAtomicCs || e->opcode == kAtomicFa) {
    if (ds < 3) return Kind::kWrong;
    const uint8_t* operands = unit_at(p, e->index, 2);
    wr->wr.atomic.remote_addr = load_be64(remote);
    wr->wr.atomic.rkey = static_cast<uint32_t>(load_be64(remote + 8) >> 32);
    const uint64_t swap_or_add = load_be64(operands);
    wr->wr.atomic.compare_add = e->opcode == kAtomicFa ? swap_or_add : load_be64(operands + 8);
    wr->wr.atomic.swap = swap_or_add;
    unit = 3;
  } else if (e->opcode != kSend && e->opcode != gpuverbs::kSendImm) {
    if (ds < 2) return Kind::kWrong;
    wr->wr.rdma.remote_addr = load_be64(remote);
    wr->wr.rdma.rkey = static_cast<uint32_t>(load_be64(remote + 8) >> 32);
    unit = 2;
  }
  if (!gather(p, e->index, unit, ds, wr, sges, &bytes)) return Kind::kWrong;
  if ((wr->send_flags & kSendInline) != 0 && wr->opcode >= kWrRead) return Kind::kWrong;
  e->bytes = static_cast<uint32_t>(bytes);
  return Kind::kPost;
}

void push(gv_proxy* p, const Entry& e, uint32_t wqebbs) {
  entry(p, p->tail++) = e;
  if (!e.local) p->posted++;
  p->next += wqebbs;
}

// Takes back what was pushed from `position` on.
void take_back(gv_proxy* p, uint64_t position) {
  p->next = entry(p, position).index;
  while (p->tail != position)
    if (!entry(p, --p->tail).local) p->posted--;
}

void push_wrong(gv_proxy* p, Entry e) {
  e.local = true;
  e.syndrome = kLocalQpOperation;
  push(p, e, 1);
  p->stopped = true;
}

// One chain of work requests. Returns how many WQEs it took from the ring; 0: none now.
uint32_t post_chain(gv_proxy* p) {
  SendWr wrs[kBatch];
  Sge sges[kBatch][kMaxSegments];
  int n = 0;
  uint32_t taken = 0;
  while (n < kBatch && p->next < p->produced && !p->stopped && p->posted < p->cap.max_send_wr) {
    const uint8_t* control = unit_at(p, p->next, 0);
    const uint64_t head = load_be64(control);
    const uint32_t fm_ce_se = control[11];
    const uint32_t ds = head & 0xff;
    Entry e{p->next, 0, static_cast<uint8_t>(head >> 32), 0, (fm_ce_se & kCqUpdate) != 0, false};
    taken++;
    const bool due = static_cast<uint16_t>(head >> 40) == static_cast<uint16_t>(p->next) &&
                     (static_cast<uint32_t>(head) >> 8) == p->qp->qp_num;
    if (!due || ds == 0 || ds > 63 || p->next + blocks(ds) > p->produced) {
      push_wrong(p, e);
      break;
    }
    SendWr& wr = wrs[n];
    wr = SendWr{};
    wr.sg_list = sges[n];
    const Kind kind = translate(p, &e, ds, &wr, sges[n]);
    if (kind == Kind::kWrong) {
      push_wrong(p, e);
      break;
    }
    e.local = kind == Kind::kLocal;
    if (!e.local) {
      wr.wr_id = work_id(p, p->tail);
      if ((fm_ce_se & kAnyFence) != 0) wr.send_flags |= kSendFence;
      if ((fm_ce_se & gpuverbs::kSolicited) != 0) wr.send_flags |= kSendSolicited;
      __builtin_memcpy(&wr.imm_data, control + 12, 4);
      if (n > 0) wrs[n - 1].next = &wr;
      n++;
    }
    push(p, e, blocks(ds));
  }
  if (n == 0) return taken;
  SendWr* bad = nullptr;
  const int result = p->v->context->ops.post_send(p->qp, wrs, &bad);
  if (result == 0) return taken;
  const uint64_t position = p->head + (((bad == nullptr ? wrs : bad)->wr_id - p->head) & 0xffffffffffffull);
  const Entry refused = entry(p, position);
  take_back(p, position);
  p->stopped = false;
  if ((result == ENOMEM || result == EAGAIN) && p->posted > 0) return 0; // back-pressure: tried again after completions
  push_wrong(p, refused);
  return taken;
}

void flush(gv_proxy* p) {
  // Those in verbs' hands come back from there; a doorbell's, which it never saw, are flushed here, in order.
  if (p->posted > 0) return;
  retire_locals(p);
  while (p->next < p->produced) {
    const uint64_t head = load_be64(unit_at(p, p->next, 0));
    const uint32_t ds = head & 0x3f;
    const bool due = static_cast<uint16_t>(head >> 40) == static_cast<uint16_t>(p->next);
    error_cqe(p, Entry{p->next, 0, static_cast<uint8_t>(head >> 32), 0, false, true}, kFlushed, 0);
    p->next += due && ds != 0 && p->next + blocks(ds) <= p->produced ? blocks(ds) : 1;
  }
}

void show_success(gv_proxy* p) {
  if (!p->pending || p->latched) return;
  p->pending = false;
  write_cqe(reinterpret_cast<uint8_t*>(p->queue->cqe), kCqeRequest << 4, sop_qpn(p, p->last),
            static_cast<uint16_t>(p->last.index), p->last.bytes, 0, 0, 0);
}

void take_events(gv_verbs* v) {
  pollfd ready{v->context->async_fd, POLLIN, 0};
  AsyncEvent event{};
  while (poll(&ready, 1, 0) > 0 && v->lib->GetAsyncEvent(v->context, &event) == 0) {
    for (gv_proxy* p : v->served) {
      const bool ours =
          event.event_type <= kEventQpAccessErr &&
          (event.element.pointer == p->qp || event.element.pointer == p->sends || event.element.pointer == p->receives);
      if (ours || event.event_type == kEventDeviceFatal) break_down(p);
    }
    if (event.event_type == kEventPortErr || event.event_type == kEventPortActive) note_port(v);
    if (v->direct != nullptr && event.event_type == kEventDeviceFatal)
      for (gv_direct* d : v->direct->queue_pairs) break_down(d, kEventDeviceFatal);
    v->lib->AckAsyncEvent(&event);
  }
}

} // namespace

void break_down(gv_proxy* p) {
  int32_t ready = GV_STATE_RTS;
  if (!p->state.compare_exchange_strong(ready, GV_STATE_ERROR)) return;
  QpAttr attr{};
  attr.qp_state = kErr;
  p->v->lib->ModifyQp(p->qp, &attr, kMaskState);
  // Submitters that wait must not wait for a completion that nothing will write.
  if (p->head == p->tail && p->next == p->produced) gv_qp_mark(p->queue, GV_STATE_ERROR);
}

bool serve(gv_proxy* p, bool again) {
  const int32_t state = p->state.load(std::memory_order_relaxed);
  if (state == GV_STATE_RESET) return serve_receives(p);
  bool moved = poll_sends(p);
  moved |= serve_receives(p);
  moved |= take_doorbell(p, again);
  if (p->state == GV_STATE_RTS) {
    for (uint32_t left = kPassWqes; left > 0 && p->state == GV_STATE_RTS;) {
      const uint32_t taken = post_chain(p);
      if (taken == 0) break;
      moved = true;
      left = left > taken ? left - taken : 0;
    }
    retire_locals(p);
  }
  if (p->state == GV_STATE_ERROR) flush(p);
  show_success(p);
  return moved;
}

// A doorbell is a plain store, so nothing wakes the drain thread: for a while after the last work it only offers its core to others,
// so that an answer finds it awake; then it looks every 50 us, and after a fifth of a second every ms.
constexpr uint64_t kAwakeNs = 1000000;
constexpr uint64_t kLightSleepNs = 200000000;
// Without a rest, so that what a lost doorbell stood for does not wait until all queue pairs are quiet.
constexpr uint32_t kPassesToLookAgain = 4096;

void drain(gv_verbs* v) {
  uint32_t idle = 0, pass = 0, looks = 0;
  uint64_t since = now_ns(); // since when nothing has moved
  bool rested = false;
  while (!v->stop.load(std::memory_order_relaxed)) {
    bool moved = false, none = false;
    {
      std::lock_guard<std::mutex> hold(v->mutex);
      const bool again = rested || ++pass % kPassesToLookAgain == 0;
      for (gv_proxy* p : v->served) moved |= serve(p, again);
      none = v->served.empty();
      if (v->direct != nullptr) {
        // Only those whose doorbells the CPU rings need a thread that is awake.
        for (gv_direct* d : v->direct->queue_pairs) {
          moved |= serve_direct(d);
          none &= d->ringer != GV_RINGER_CPU;
        }
      }
      if (none || ++looks % 64 == 0) {
        take_events(v);
        take_direct_events(v);
      }
    }
    idle = moved ? 0 : idle + 1;
    if (idle == 1) since = now_ns();
    const uint64_t quiet = idle > 1 ? now_ns() - since : 0;
    rested = none || quiet > kAwakeNs;
    if (rested) {
      const timespec pause{0, none || quiet > kLightSleepNs ? 1000000 : 50000};
      nanosleep(&pause, nullptr);
    } else if (idle > 0) {
      sched_yield();
    }
    for (int i = 0; i < 1000 && v->waiting.load() > 0; i++) sched_yield();
  }
}

} // namespace gpuverbs::verbs
