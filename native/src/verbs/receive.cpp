// SPDX-License-Identifier: Apache-2.0
// The receive half: receives from the ring to verbs, their completions back.
#include "gpuverbs/wqe.h"
#include "proxy.h"

namespace gpuverbs::verbs {

namespace {

constexpr uint32_t kInvalidLkey = 0x100; // MLX5_INVALID_LKEY ends a receive's list of segments
constexpr uint32_t kReceiveUnits = GV_RQ_STRIDE / 16;
constexpr int kPolled = 16;

// mlx5 CQE opcodes: MLX5_CQE_RESP_WR_IMM, _RESP_SEND, _RESP_SEND_IMM, _RESP_ERR
constexpr uint32_t kRespWriteImm = 1, kRespSend = 2, kRespSendImm = 3, kRespError = 14;

bool post(gv_proxy* p) {
  const uint32_t depth = p->queue->receive_depth;
  const uint32_t record =
      __builtin_bswap32(__atomic_load_n(reinterpret_cast<uint32_t*>(p->queue->dbr), __ATOMIC_ACQUIRE));
  uint32_t ahead = static_cast<uint16_t>(record - static_cast<uint32_t>(p->receive_next));
  bool moved = false;
  while (ahead > 0 && ahead <= depth && p->receive_next - p->receive_done < p->cap.max_recv_wr) {
    const uint8_t* at =
        reinterpret_cast<uint8_t*>(p->queue->receive_ring + (p->receive_next & (depth - 1)) * GV_RQ_STRIDE);
    Sge sges[kReceiveUnits];
    RecvWr wr{};
    wr.wr_id = work_id(p, p->receive_next);
    wr.sg_list = sges;
    for (uint32_t u = 0; u < kReceiveUnits; u++, at += 16) {
      const uint64_t key = load_be64(at);
      if (static_cast<uint32_t>(key) == kInvalidLkey) break;
      sges[wr.num_sge++] = Sge{load_be64(at + 8), static_cast<uint32_t>(key >> 32), static_cast<uint32_t>(key)};
    }
    RecvWr* bad = nullptr;
    if (p->v->context->ops.post_recv(p->qp, &wr, &bad) != 0) break; // full: tried again
    p->receive_next++;
    ahead--;
    moved = true;
  }
  return moved;
}

void complete(gv_proxy* p, const Wc& wc) {
  const uint16_t counter = static_cast<uint16_t>(wc.wr_id);
  const uint32_t qpn = p->qp->qp_num;
  p->receive_done++;
  bool room;
  if (wc.status != kWcSuccess) {
    room = put_cqe(p->receive_cq, kRespError, false, qpn, counter, 0, 0, static_cast<uint8_t>(syndrome_of(wc.status)),
                   static_cast<uint8_t>(wc.vendor_err));
    break_down(p);
  } else {
    const bool imm = (wc.wc_flags & kWcWithImm) != 0;
    const uint32_t opcode = wc.opcode == kWcRecvWithImm ? kRespWriteImm : imm ? kRespSendImm : kRespSend;
    room = put_cqe(p->receive_cq, opcode, false, qpn, counter, wc.byte_len, imm ? wc.imm_data : 0, 0, 0);
  }
  if (!room) break_down(p);
}

} // namespace

bool serve_receives(gv_proxy* p) {
  if (p->receives == nullptr) return false;
  Wc wcs[kPolled];
  bool moved = false;
  int n;
  do {
    n = p->v->context->ops.poll_cq(p->receives, kPolled, wcs);
    for (int i = 0; i < n; i++)
      if (!stale(p, wcs[i].wr_id)) complete(p, wcs[i]);
    moved |= n > 0;
  } while (n == kPolled);
  return post(p) || moved;
}

} // namespace gpuverbs::verbs
