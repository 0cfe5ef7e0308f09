// SPDX-License-Identifier: Apache-2.0
// A queue pair of ours served on a verbs queue pair.
#ifndef GPUVERBS_SRC_VERBS_PROXY_H
#define GPUVERBS_SRC_VERBS_PROXY_H

#include <memory>

#include "device.h"

// Producer side of an owner-bit CQ. By the drain thread, but for `consumed`.
struct gv_proxy_cq {
  uint8_t* ring;
  uint32_t depth;
  uint64_t produced;
  uint64_t consumed; // atomic
};

namespace gpuverbs::verbs {

constexpr uint32_t kMaxSegments = 8;   // of a request; the encoder makes up to GV_MAX_SEGMENTS
constexpr uint32_t kInlineAsked = 256; // bytes of inline data that a device is asked for; it may give less

// A WQE that was taken from the ring and is not finished.
struct Entry {
  uint64_t index; // of its first WQEBB
  uint32_t bytes;
  uint8_t opcode;
  uint8_t syndrome; // not 0: found wrong here, fails when its turn comes
  bool signaled;
  bool local; // nothing was posted for it: finished when all before it are
};

} // namespace gpuverbs::verbs

// All but the constants under the device's mutex.
struct gv_proxy {
  gv_verbs* v;
  gv_qp* queue;
  gpuverbs::verbs::Qp* qp = nullptr;
  gpuverbs::verbs::Cq* sends = nullptr;
  gpuverbs::verbs::Cq* receives = nullptr;
  gpuverbs::verbs::Mr* ring_mr = nullptr; // for inline data that the device doesn't take inline
  gpuverbs::verbs::QpCap cap{};
  gv_proxy_cq* send_cq = nullptr; // nullptr: collapsed
  gv_proxy_cq* receive_cq = nullptr;
  uint32_t pkey_index = 0;
  std::atomic<int32_t> state{GV_STATE_RESET};
  uint64_t generation = 0; // of wr_ids: completions from before a reset are dropped

  // Send queue. finished <= next <= produced, all WQE indexes.
  uint64_t next = 0;     // the first WQEBB not taken yet
  uint64_t produced = 0; // the first that no doorbell has covered
  bool stopped = false;  // a WQE was found wrong: nothing behind it is taken until its turn comes
  std::unique_ptr<gpuverbs::verbs::Entry[]> entries; // a ring of queue->depth
  uint64_t head = 0, tail = 0;
  uint32_t posted = 0;  // entries in verbs' hands
  bool latched = false; // the collapsed CQE holds the first error, which nothing may overwrite
  bool pending = false; // a success that the collapsed CQE doesn't show yet
  gpuverbs::verbs::Entry last{};

  // Receive queue.
  uint64_t receive_next = 0; // posted
  uint64_t receive_done = 0;

  uint64_t finished() const { return head == tail ? next : entries[head & (queue->depth - 1)].index; }
};

namespace gpuverbs::verbs {

// One pass over a queue pair, and `again` at its DBR although no doorbell was rung; whether anything moved. drain.cpp
bool serve(gv_proxy* p, bool again);
// To ERROR: the verbs queue pair flushes what it holds.
void break_down(gv_proxy* p);
// receive.cpp
bool serve_receives(gv_proxy* p);

// cqe.cpp
uint32_t syndrome_of(int wc_status);
void write_cqe(uint8_t* cqe, uint8_t op_own, uint32_t sop_qpn, uint16_t counter, uint32_t bytes, uint32_t imm_be,
               uint8_t syndrome, uint8_t vendor);
// False if the CQ has no room.
bool put_cqe(gv_proxy_cq* cq, uint32_t opcode, bool solicited, uint32_t sop_qpn, uint16_t counter, uint32_t bytes,
             uint32_t imm_be, uint8_t syndrome, uint8_t vendor);

inline uint64_t load_be64(const uint8_t* p) {
  uint64_t v;
  __builtin_memcpy(&v, p, 8);
  return __builtin_bswap64(v);
}

// wr_id: generation in the upper 16 bits, position in the lower 48.
inline uint64_t work_id(const gv_proxy* p, uint64_t position) {
  return (p->generation << 48) | (position & 0xffffffffffffull);
}
inline bool stale(const gv_proxy* p, uint64_t id) { return (id >> 48) != (p->generation & 0xffff); }

} // namespace gpuverbs::verbs

#endif
