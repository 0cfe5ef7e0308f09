/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The WQE encoder: one request to the 16-byte units of an mlx5 send WQE, written into the ring.
 *
 * Layouts: rdma-core providers/mlx5/mlx5dv.h, struct mlx5_wqe_ctrl_seg, mlx5_wqe_raddr_seg, mlx5_wqe_atomic_seg,
 * mlx5_wqe_data_seg, mlx5_wqe_inl_data_seg. A WQE starts at a 64-byte basic block and may span several; each unit is addressed on its own,
 * so that a WQE wraps at the ring's end by itself.
 */
#ifndef GPUVERBS_WQE_H
#define GPUVERBS_WQE_H

#include "view.h"

namespace gpuverbs {

/* MLX5_OPCODE_* */
enum Opcode : uint32_t {
  kNop = 0x00,
  kRdmaWrite = 0x08,
  kRdmaWriteImm = 0x09,
  kSend = 0x0a,
  kSendImm = 0x0b,
  kRdmaRead = 0x10,
  kAtomicCs = 0x11,
  kAtomicFa = 0x12,
  kDump = 0x23,
};

/* fm_ce_se bits: MLX5_WQE_CTRL_CQ_UPDATE, MLX5_WQE_CTRL_SOLICITED, MLX5_WQE_CTRL_FENCE. */
constexpr uint32_t kCqUpdate = 0x08;
constexpr uint32_t kSolicited = 0x02;
constexpr uint32_t kFence = 0x80;
constexpr uint32_t kInline = 0x80000000u; /* MLX5_INLINE_SEG */

/* One 16-byte unit, words already in memory order. */
template <uint32_t M>
GV_FN void put_unit(const Queue& q, uint64_t index, uint32_t unit, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  /* Within the first block no unit can wrap, and the compiler computes its address once. */
  const uint32_t first = (static_cast<uint32_t>(index) * (GV_WQEBB / 16)) & q.unit_mask;
  uint8_t* p = unit < GV_WQEBB / 16 ? q.ring + (static_cast<uint64_t>(first) << 4) + unit * 16
                                    : q.ring + (static_cast<uint64_t>((first + unit) & q.unit_mask) << 4);
#if GV_ON_DEVICE
  /* In GPU memory the ring need not stay in L1; to host memory plain stores merge into 64-byte writes. */
  if (M == GV_FENCE_DEVICE)
    asm volatile("st.global.L1::no_allocate.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(a), "r"(b), "r"(c), "r"(d)
                 : "memory");
  else
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
#else
  uint32_t w[4] = {a, b, c, d};
  __builtin_memcpy(p, w, 16);
#endif
}

template <uint32_t M>
GV_FN void put_control(const Queue& q, uint64_t index, uint32_t opcode, uint32_t units, uint32_t fm_ce_se,
                       uint32_t imm) {
  put_unit<M>(q, index, 0, be32(((static_cast<uint32_t>(index) & 0xffff) << 8) | opcode), q.qpn_word | (units << 24),
              be32(fm_ce_se), be32(imm));
}

template <uint32_t M>
GV_FN void put_remote(const Queue& q, uint64_t index, uint32_t unit, uint64_t address, uint32_t rkey) {
  put_unit<M>(q, index, unit, be32(static_cast<uint32_t>(address >> 32)), be32(static_cast<uint32_t>(address)),
              be32(rkey), 0);
}

template <uint32_t M>
GV_FN void put_data(const Queue& q, uint64_t index, uint32_t unit, uint32_t length, uint32_t lkey, uint64_t address) {
  put_unit<M>(q, index, unit, be32(length), be32(lkey), be32(static_cast<uint32_t>(address >> 32)),
              be32(static_cast<uint32_t>(address)));
}

/* swap_or_add and compare are big-endian on the wire (mlx5_wqe_atomic_seg). */
template <uint32_t M>
GV_FN void put_atomic(const Queue& q, uint64_t index, uint32_t unit, uint64_t swap_or_add, uint64_t compare) {
  put_unit<M>(q, index, unit, be32(static_cast<uint32_t>(swap_or_add >> 32)), be32(static_cast<uint32_t>(swap_or_add)),
              be32(static_cast<uint32_t>(compare >> 32)), be32(static_cast<uint32_t>(compare)));
}

/* The data of an inline segment: a 4-byte header, then the bytes, zero-padded to whole units. Returns the units used. */
template <uint32_t M>
GV_FN uint32_t put_inline(const Queue& q, uint64_t index, uint32_t unit, const uint8_t* bytes, uint32_t length) {
  uint32_t units = (4 + length + 15) / 16;
  for (uint32_t u = 0; u < units; u++) {
    uint32_t w[4];
    for (uint32_t k = 0; k < 4; k++) {
      uint32_t at = u * 16 + k * 4; /* position behind the segment's start; the header takes the first four bytes */
      uint32_t v = 0;
      if (at == 0) {
        v = be32(length | kInline);
      } else {
        for (uint32_t b = 0; b < 4; b++)
          if (at - 4 + b < length) v |= static_cast<uint32_t>(bytes[at - 4 + b]) << (8 * b);
      }
      w[k] = v;
    }
    put_unit<M>(q, index, unit + u, w[0], w[1], w[2], w[3]);
  }
  return units;
}

GV_FN uint32_t opcode_of(uint32_t op) {
  switch (op) {
    case GV_OP_WRITE:
    case GV_OP_WRITE_INLINE:
      return kRdmaWrite;
    case GV_OP_WRITE_IMM:
      return kRdmaWriteImm;
    case GV_OP_READ:
      return kRdmaRead;
    case GV_OP_SEND:
      return kSend;
    case GV_OP_SEND_IMM:
      return kSendImm;
    case GV_OP_COMPARE_SWAP:
      return kAtomicCs;
    case GV_OP_FETCH_ADD:
      return kAtomicFa;
    default:
      return kNop;
  }
}

/* I4: the WQE that covers slot k * signal_every - 1 is always signalled, so that a full ring always frees itself. */
GV_FN bool covers_signal_slot(uint64_t index, uint32_t wqebbs, uint32_t signal_every) {
  if (GV_MUTANT(no_forced_signal)) return false;
  return (static_cast<uint32_t>(index) & (signal_every - 1)) + wqebbs >= signal_every;
}

/* Writes one request at WQE index `index`. */
template <uint32_t M>
GV_FN void write_wqe(const Queue& q, uint64_t index, const gv_request* request) {
  const uint32_t op = request->op;
  uint32_t unit = 1;
  if (op != GV_OP_NOP && op != GV_OP_SEND && op != GV_OP_SEND_IMM)
    put_remote<M>(q, index, unit++, request->remote_address, request->rkey);
  if (op == GV_OP_COMPARE_SWAP)
    put_atomic<M>(q, index, unit++, request->swap_or_add, request->compare);
  else if (op == GV_OP_FETCH_ADD)
    put_atomic<M>(q, index, unit++, request->swap_or_add, 0);
  if (op == GV_OP_WRITE_INLINE) {
    if (request->inline_length != 0)
      unit += put_inline<M>(q, index, unit, reinterpret_cast<const uint8_t*>(request->inline_address),
                            request->inline_length);
  } else {
    /* A byte count of zero means 2^31 to the NIC: an empty segment is left out. */
    const uint32_t n = request->segments;
    for (uint32_t i = 0; i < n; i++)
      if (request->segment[i].length != 0)
        put_data<M>(q, index, unit++, request->segment[i].length, request->segment[i].lkey,
                    request->segment[i].address);
  }
  const bool signaled =
      (request->flags & GV_FLAG_SIGNALED) != 0 || covers_signal_slot(index, request->wqebbs, q.signal_every);
  const uint32_t fm_ce_se = (signaled ? kCqUpdate : 0) | (request->flags & GV_FLAG_SOLICITED ? kSolicited : 0) |
                            (request->flags & GV_FLAG_FENCE ? kFence : 0);
  const bool immediate = op == GV_OP_WRITE_IMM || op == GV_OP_SEND_IMM;
  put_control<M>(q, index, opcode_of(op), unit, fm_ce_se, immediate ? request->immediate : 0);
}

} // namespace gpuverbs

#endif
