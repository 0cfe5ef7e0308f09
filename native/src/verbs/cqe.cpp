// SPDX-License-Identifier: Apache-2.0
// mlx5 CQEs from verbs completions (rdma-core providers/mlx5/mlx5dv.h: struct mlx5_cqe64, mlx5_err_cqe).
#include <cerrno>
#include <cstring>
#include <new>

#include "gpuverbs.h"
#include "proxy.h"

namespace gpuverbs::verbs {

// The inverse of rdma-core's providers/mlx5/cq.c, handle_error_cqe.
uint32_t syndrome_of(int status) {
  switch (status) {
    case kWcLocLen:
      return 0x01;
    case kWcLocQpOp:
      return 0x02;
    case kWcLocProt:
      return 0x04;
    case kWcFlush:
      return 0x05;
    case kWcMwBind:
      return 0x06;
    case kWcBadResp:
      return 0x10;
    case kWcLocAccess:
      return 0x11;
    case kWcRemInvReq:
    case kWcRemInvRd:
      return 0x12;
    case kWcRemAccess:
      return 0x13;
    case kWcRemOp:
      return 0x14;
    case kWcRetry:
      return 0x15;
    case kWcRnr:
      return 0x16;
    case kWcRemAbort:
      return 0x22;
    default:
      return 0x02; // general and fatal errors: the queue pair is of no use any more
  }
}

void write_cqe(uint8_t* cqe, uint8_t op_own, uint32_t sop_qpn, uint16_t counter, uint32_t bytes, uint32_t imm_be,
               uint8_t syndrome, uint8_t vendor) {
  const uint32_t bytes_be = __builtin_bswap32(bytes);
  memset(cqe, 0, 0x38);
  memcpy(cqe + 0x24, &imm_be, 4);
  memcpy(cqe + 0x2c, &bytes_be, 4);
  cqe[0x36] = vendor;
  cqe[0x37] = syndrome;
  // sop_drop_qpn, wqe_counter, signature and op_own by one store, the last: a reader of a collapsed CQE never sees an opcode
  // with another WQE's counter, nor a body that is not written.
  const uint64_t tail = static_cast<uint64_t>(sop_qpn) << 32 | static_cast<uint64_t>(counter) << 16 | op_own;
  __atomic_store_n(reinterpret_cast<uint64_t*>(cqe + 0x38), __builtin_bswap64(tail), __ATOMIC_RELEASE);
}

bool put_cqe(gv_proxy_cq* cq, uint32_t opcode, bool solicited, uint32_t sop_qpn, uint16_t counter, uint32_t bytes,
             uint32_t imm_be, uint8_t syndrome, uint8_t vendor) {
  if (cq->produced - __atomic_load_n(&cq->consumed, __ATOMIC_ACQUIRE) >= cq->depth) return false;
  const uint8_t owner = (cq->produced & cq->depth) != 0 ? 1 : 0;
  write_cqe(cq->ring + (cq->produced & (cq->depth - 1)) * GV_CQE_SIZE,
            static_cast<uint8_t>(opcode << 4 | (solicited ? 2 : 0) | owner), sop_qpn, counter, bytes, imm_be, syndrome,
            vendor);
  cq->produced++;
  return true;
}

} // namespace gpuverbs::verbs

extern "C" int32_t gv_proxy_cq_create(uint64_t ring, uint32_t depth, gv_proxy_cq** out, gv_error* error) {
  gv_proxy_cq* cq = new (std::nothrow) gv_proxy_cq{reinterpret_cast<uint8_t*>(ring), depth, 0, 0};
  if (cq == nullptr) return gpuverbs::fail(error, -ENOMEM, 0, "no memory");
  *out = cq;
  return 0;
}

extern "C" void gv_proxy_cq_consumed(gv_proxy_cq* cq, uint64_t consumed) {
  __atomic_store_n(&cq->consumed, consumed, __ATOMIC_RELEASE);
}

extern "C" void gv_proxy_cq_destroy(gv_proxy_cq* cq) { delete cq; }
