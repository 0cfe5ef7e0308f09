// SPDX-License-Identifier: Apache-2.0
// A drain for tests: follows doorbell and DBR as a NIC does, checks every WQE, writes the collapsed CQE. Its reading of the
// wire format is its own (big-endian fields of an RDMA WRITE), not the encoder's.
#ifndef GPUVERBS_TEST_NIC_H
#define GPUVERBS_TEST_NIC_H

#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "gpuverbs.h"

class TestNic {
 public:
  explicit TestNic(gv_qp* qp) : qp_(qp) {}

  // Takes the doorbell, if one was rung, and consumes up to the DBR. Returns the basic blocks consumed.
  uint64_t consume() {
    auto* doorbell = reinterpret_cast<uint64_t*>(qp_->doorbell);
    if (__atomic_load_n(doorbell, __ATOMIC_ACQUIRE) == 0) return 0;
    if (__atomic_exchange_n(doorbell, 0, __ATOMIC_ACQ_REL) == 0) return 0;
    doorbells_++;
    const uint32_t pi =
        __builtin_bswap32(__atomic_load_n(reinterpret_cast<uint32_t*>(qp_->dbr) + 1, __ATOMIC_ACQUIRE)) & 0xffff;
    const auto n = static_cast<uint16_t>(pi - static_cast<uint32_t>(ci_));
    if (n > qp_->depth) {
      wrong("DBR " + std::to_string(pi) + " went back, or more than the ring ahead of " + std::to_string(ci_ & 0xffff));
      return 0;
    }
    const uint64_t from = ci_;
    const uint64_t end = ci_ + n;
    uint64_t signaled = ~0ull;
    while (ci_ < end) {
      const uint32_t size = one(ci_, &signaled);
      ci_ += size;
    }
    if (ci_ != end) wrong("the producer index cuts a WQE");
    if (signaled != ~0ull) complete(signaled);
    return ci_ - from;
  }

  void complete(uint64_t index, uint8_t opcode = 0, uint8_t syndrome = 0) {
    auto* cqe = reinterpret_cast<uint8_t*>(qp_->cqe);
    cqe[0x37] = syndrome;
    const uint32_t tail = static_cast<uint32_t>((index >> 8) & 0xff) | static_cast<uint32_t>(index & 0xff) << 8 |
                          static_cast<uint32_t>(opcode) << 28;
    __atomic_store_n(reinterpret_cast<uint32_t*>(cqe + 0x3c), tail, __ATOMIC_RELEASE);
    completions_++;
  }

  uint64_t consumed() const { return ci_; }
  uint64_t doorbells() const { return doorbells_; }
  uint64_t completions() const { return completions_; }
  uint64_t sum() const { return sum_; }
  uint64_t wqes() const { return wqes_; }
  uint64_t bad() const { return bad_; }
  const std::string& first_wrong() const { return first_wrong_; }

 private:
  static uint32_t word(const uint8_t* p) {
    uint32_t v;
    std::memcpy(&v, p, 4);
    return __builtin_bswap32(v);
  }
  static uint64_t wide(const uint8_t* p) { return static_cast<uint64_t>(word(p)) << 32 | word(p + 4); }

  void wrong(const std::string& what) {
    if (bad_++ == 0) first_wrong_ = what;
  }

  // An RDMA WRITE made by write_request(): remote address = id * 64, local address = id * 64 + 1 << 40.
  uint32_t one(uint64_t index, uint64_t* signaled) {
    const uint8_t* wqe = reinterpret_cast<const uint8_t*>(qp_->ring) + (index & (qp_->depth - 1)) * 64;
    const uint32_t op = word(wqe), qd = word(wqe + 4), fm = word(wqe + 8);
    const uint32_t ds = qd & 0x3f;
    wqes_++;
    if (((op >> 8) & 0xffff) != (index & 0xffff)) {
      wrong("slot " + std::to_string(index) + " holds WQE index " + std::to_string((op >> 8) & 0xffff));
      return 1;
    }
    if (fm & 0x08) *signaled = index;
    // What comes beside WRITEs: NOPs, and fetch-adds, whose fields say nothing that could be checked.
    const bool aside = ((op & 0xff) == 0x00 && ds == 1) || ((op & 0xff) == 0x12 && ds == 4);
    if (aside && (qd >> 8) == qp_->sq->qpn) return 1;
    if ((op & 0xff) != 0x08 || (qd >> 8) != qp_->sq->qpn || ds < 2) {
      wrong("slot " + std::to_string(index) + " holds no WRITE of this queue");
      return 1;
    }
    const uint32_t size = (ds + 3) / 4;
    // Units are 16 bytes; a WQE of more than one block may wrap.
    const auto unit = [&](uint32_t k) {
      return reinterpret_cast<const uint8_t*>(qp_->ring) +
             ((index * 64 + k * 16) & (static_cast<uint64_t>(qp_->depth) * 64 - 1));
    };
    const uint64_t remote = wide(unit(1));
    for (uint32_t k = 2; k < ds; k++)
      if (wide(unit(k) + 8) != remote + (1ull << 40)) wrong("slot " + std::to_string(index) + " is torn");
    sum_ += remote / 64;
    return size;
  }

  gv_qp* qp_;
  uint64_t ci_ = 0, doorbells_ = 0, completions_ = 0, sum_ = 0, wqes_ = 0, bad_ = 0;
  std::string first_wrong_;
};

// A WRITE that TestNic can check; segments 1..3 (three make a WQE of two basic blocks).
inline gv_request write_request(uint64_t id, uint8_t segments = 1, uint8_t flags = 0) {
  gv_request r;
  std::memset(&r, 0, sizeof r);
  r.op = GV_OP_WRITE;
  r.flags = flags;
  r.segments = segments;
  r.wqebbs = segments == 3 ? 2 : 1;
  r.remote_address = id * 64;
  r.rkey = 0x1234;
  for (int i = 0; i < segments; i++) r.segment[i] = {id * 64 + (1ull << 40), 64, 0x5678};
  return r;
}

struct Policy {
  const char* name;
  uint32_t handover;
  uint32_t fence_mode;
  uint32_t doorbell_every;
};

inline gv_qp* open_queue(const Policy& p, uint32_t depth, uint32_t signal_every = 0, uint64_t timeout_ns = 0) {
  gv_qp_attr a;
  std::memset(&a, 0, sizeof a);
  a.depth = depth;
  a.handover = p.handover;
  a.fence_mode = p.fence_mode;
  a.doorbell_every = p.doorbell_every;
  a.signal_every = signal_every;
  a.max_group_wqebbs = 1;
  a.collapsed = 1;
  a.submit_timeout_ns = timeout_ns;
  gv_qp* qp = nullptr;
  gv_error error;
  if (gv_qp_create(&a, &qp, &error) != 0) {
    std::printf("  %s\n", error.text);
    return nullptr;
  }
  gv_qp_ready(qp, 0x42, &error);
  return qp;
}

#endif
