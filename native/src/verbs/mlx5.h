// SPDX-License-Identifier: Apache-2.0
// mlx5 firmware commands: where the fields that are used lie in their mailboxes, and how a refused one is told. Source: Linux
// include/linux/mlx5/mlx5_ifc.h (6.1). Its bit offsets count from the most significant bit of big-endian words; here a field is the
// byte offset of its word, the shift within it, and its width.
#ifndef GPUVERBS_SRC_VERBS_MLX5_H
#define GPUVERBS_SRC_VERBS_MLX5_H

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mlx5_library.h"

namespace gpuverbs::verbs::mlx5 {

struct Field {
  uint16_t at;
  uint8_t shift;
  uint8_t bits;
};

inline uint32_t load_be32(const uint8_t* p) {
  uint32_t v;
  memcpy(&v, p, 4);
  return __builtin_bswap32(v);
}

inline void store_be32(uint8_t* p, uint32_t v) {
  v = __builtin_bswap32(v);
  memcpy(p, &v, 4);
}

inline void store_be64(uint8_t* p, uint64_t v) {
  v = __builtin_bswap64(v);
  memcpy(p, &v, 8);
}

inline uint32_t get(const uint8_t* base, Field f) {
  return load_be32(base + f.at) >> f.shift & (f.bits == 32 ? ~0u : (1u << f.bits) - 1);
}

inline void put(uint8_t* base, Field f, uint32_t value) {
  const uint32_t mask = (f.bits == 32 ? ~0u : (1u << f.bits) - 1) << f.shift;
  store_be32(base + f.at, (load_be32(base + f.at) & ~mask) | ((value << f.shift) & mask));
}

// MLX5_CMD_OP_*
enum Opcode : uint32_t {
  kQueryHcaCap = 0x100,
  kCreateCq = 0x400,
  kCreateQp = 0x500,
  kRst2Init = 0x502,
  kInit2Rtr = 0x503,
  kRtr2Rts = 0x504,
  k2Err = 0x507,
  k2Rst = 0x50a,
  kQueryQp = 0x50b,
};

// Every command: mlx5_ifc_*_in_bits and _out_bits begin alike.
constexpr Field kOpcode{0x00, 16, 16}, kOpMod{0x04, 0, 16};
constexpr Field kStatus{0x00, 24, 8}, kSyndrome{0x04, 0, 32};
constexpr Field kNumberIn{0x08, 0, 24}; // qpn of *_qp_in
constexpr Field kNumberOut{0x08, 0, 24};
constexpr size_t kShort = 16;                          // mailboxes without a context
constexpr size_t kWithContext = 272;                   // create_cq_in, create_qp_in, *2*_qp_in, query_qp_out
constexpr size_t kCqcAt = 0x10, kQpcAt = 0x18;         // in create_cq_in; in create_qp_in, *2*_qp_in, query_qp_out
constexpr size_t kCapabilitiesOut = 4112, kCapAt = 16; // query_hca_cap_out

namespace create_cq {
constexpr uint16_t kUmemOffset = 0x50; // 64 bits
constexpr Field kUmemId{0x58, 0, 32}, kUmemValid{0x5c, 31, 1};
} // namespace create_cq

namespace create_qp {
constexpr uint16_t kUmemOffset = 0x100; // 64 bits
constexpr Field kUmemId{0x108, 0, 32}, kUmemValid{0x10c, 31, 1};
} // namespace create_qp

namespace cqc { // mlx5_ifc_cqc_bits
constexpr Field kDbrUmemValid{0x00, 25, 1}, kCollapsed{0x00, 20, 1}, kIgnoreOverrun{0x00, 17, 1};
constexpr Field kDbrUmemId{0x04, 0, 32}, kLogSize{0x0c, 24, 5}, kUarPage{0x0c, 0, 24}, kEqn{0x14, 0, 32};
constexpr uint16_t kDbrAddr = 0x38; // 64 bits: the offset in the umem
} // namespace cqc

namespace qpc { // mlx5_ifc_qpc_bits
constexpr Field kState{0x00, 28, 4}, kPmState{0x00, 11, 2}, kPd{0x04, 0, 24};
constexpr Field kMtu{0x08, 29, 3}, kLogMsgMax{0x08, 24, 5}, kLogRqSize{0x08, 19, 4}, kLogRqStride{0x08, 16, 3},
    kLogSqSize{0x08, 11, 4}, kTsFormat{0x08, 6, 2};
constexpr Field kUarPage{0x0c, 0, 24}, kRemoteQpn{0x14, 0, 24};
constexpr size_t kPath = 0x18; // ads
constexpr Field kLogSraMax{0x70, 21, 3}, kRetryCount{0x70, 16, 3}, kRnrRetry{0x70, 13, 3};
constexpr Field kNextSendPsn{0x78, 0, 24}, kCqnSnd{0x7c, 0, 24};
constexpr Field kLogRraMax{0x90, 21, 3}, kAtomicMode{0x90, 16, 4}, kRre{0x90, 15, 1}, kRwe{0x90, 14, 1},
    kRae{0x90, 13, 1};
constexpr Field kMinRnrNak{0x94, 24, 5}, kNextRcvPsn{0x94, 0, 24}, kCqnRcv{0x9c, 0, 24};
constexpr uint16_t kDbrAddr = 0xa0; // 64 bits: the offset in the umem
constexpr Field kRqType{0xac, 24, 3};
constexpr Field kHwSqCounter{0xb4, 16, 16}, kHwRqCounter{0xb8, 0, 32};
constexpr Field kDbrUmemValid{0xd0, 28, 1}, kDbrUmemId{0xe4, 0, 32};
constexpr uint32_t kMigrated = 3;          // MLX5_QPC_PM_STATE_MIGRATED
constexpr uint32_t kRqZeroSize = 3;        // MLX5_ZERO_LEN_RQ: no receive queue
constexpr uint32_t kAtomicIbSpec = 1;      // MLX5_ATOMIC_MODE_IB_COMP
constexpr uint32_t kDefaultTimestamps = 1; // MLX5_TIMESTAMP_FORMAT_DEFAULT; 0 is free-running
constexpr uint32_t kStateError = 6;        // MLX5_QP_STATE_ERR
constexpr uint32_t kStateRts = 3;
} // namespace qpc

namespace ads { // mlx5_ifc_ads_bits: an address path
constexpr Field kPkeyIndex{0x00, 0, 16}, kGrh{0x04, 23, 1}, kRlid{0x04, 0, 16};
constexpr Field kAckTimeout{0x08, 27, 5}, kSrcAddrIndex{0x08, 16, 8}, kHopLimit{0x08, 0, 8}, kTclass{0x0c, 20, 8};
constexpr size_t kRgid = 0x10; // 16 bytes
constexpr Field kDscp{0x20, 16, 6}, kUdpSport{0x20, 0, 16}, kEthPrio{0x24, 28, 3}, kSl{0x24, 24, 4}, kPort{0x24, 16, 8};
constexpr Field kRmacHigh{0x24, 0, 16}, kRmacLow{0x28, 0, 32};
} // namespace ads

// Capabilities, after kCapAt. Type in op_mod's upper bits; bit 0: as they are now.
constexpr uint32_t kGeneral = 0, kAtomic = 3, kRoce = 4;

namespace cap { // mlx5_ifc_cmd_hca_cap_bits
constexpr Field kLogMaxQpSize{0x10, 16, 8}, kLogMaxCqSize{0x18, 16, 8};
constexpr Field kLogMaxReadsOut{0x28, 16, 6}, kLogMaxReadsIn{0x28, 0, 6}; // log_max_ra_req_qp, log_max_ra_res_qp
constexpr Field kLogMaxMessage{0x38, 24, 5}, kCqeVersion{0x3c, 0, 4};
constexpr Field kHasAtomics{0x40, 1, 1}, kHasRoce{0x40, 2, 1}, kCqIgnoreOverrun{0x44, 31, 1}, kRc{0x44, 0, 1};
constexpr Field kMaxSqWqeBytes{0x50, 0, 16}, kSqTimestamps{0x88, 30, 2}; // sq_ts_format
} // namespace cap

namespace atomic_cap {                   // mlx5_ifc_atomic_caps_bits
constexpr Field kHostOrder{0x08, 30, 2}; // atomic_req_8B_endianness_mode: 1 host order, 0 big-endian
} // namespace atomic_cap

namespace roce_cap {                       // mlx5_ifc_roce_cap_bits
constexpr Field kQpTimestamps{0x00, 0, 2}; // qp_ts_format
constexpr Field kMaxUdpSport{0x18, 16, 16}, kMinUdpSport{0x18, 0, 16}, kTableSize{0x1c, 0, 16};
} // namespace roce_cap

// Fills `error` for a command that failed with `result`, an errno, and returns the negative errno. `out` is its answer; old kernels
// leave it empty. `fix`: what to do.
int32_t refused(gv_error* error, const char* what, int result, const uint8_t* out, const char* fix);

} // namespace gpuverbs::verbs::mlx5

#endif
