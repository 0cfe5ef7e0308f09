// SPDX-License-Identifier: Apache-2.0
// The part of libibverbs' binary interface that is used, declared by hand so that no header of it is needed to build. Source:
// rdma-core, libibverbs/verbs.h (symbol versions IBVERBS_1.0 and 1.1, which libibverbs.so.1 keeps); test/verbs_abi_test.cpp
// compares every layout and constant with that header where it is installed.
#ifndef GPUVERBS_SRC_VERBS_ABI_H
#define GPUVERBS_SRC_VERBS_ABI_H

#include <pthread.h>

#include <cstddef>
#include <cstdint>

namespace gpuverbs::verbs {

struct Context;
struct Qp;
struct Cq;
struct SendWr;
struct RecvWr;
struct Wc;

struct Device { // ibv_device
  void* ops[2];
  int node_type;
  int transport_type;
  char name[64];
  char dev_name[64];
  char dev_path[256];
  char ibdev_path[256];
};

// ibv_context_ops: what ibv_post_send and the like, inline functions in the header, call. The rest is of no use here.
struct ContextOps {
  void* unused0[11];
  int (*poll_cq)(Cq*, int, Wc*);
  void* unused1[13];
  int (*post_send)(Qp*, SendWr*, SendWr**);
  int (*post_recv)(Qp*, RecvWr*, RecvWr**);
  void* unused2[5];
};

struct Context { // ibv_context
  Device* device;
  ContextOps ops;
  int cmd_fd;
  int async_fd;
  int num_comp_vectors;
  pthread_mutex_t mutex;
  void* abi_compat;
};

struct Pd { // ibv_pd
  Context* context;
  uint32_t handle;
};

struct Mr { // ibv_mr
  Context* context;
  Pd* pd;
  void* addr;
  size_t length;
  uint32_t handle;
  uint32_t lkey;
  uint32_t rkey;
};

struct Cq { // ibv_cq, its beginning
  Context* context;
  void* channel;
  void* cq_context;
  uint32_t handle;
  int cqe;
};

struct Qp { // ibv_qp, its beginning
  Context* context;
  void* qp_context;
  Pd* pd;
  Cq* send_cq;
  Cq* recv_cq;
  void* srq;
  uint32_t handle;
  uint32_t qp_num;
  int state;
  int qp_type;
};

struct DeviceAttr { // ibv_device_attr
  char fw_ver[64];
  uint64_t node_guid; // big-endian
  uint64_t sys_image_guid;
  uint64_t max_mr_size;
  uint64_t page_size_cap;
  uint32_t vendor_id;
  uint32_t vendor_part_id;
  uint32_t hw_ver;
  int max_qp;
  int max_qp_wr;
  unsigned device_cap_flags;
  int max_sge;
  int max_sge_rd;
  int max_cq;
  int max_cqe;
  int max_mr;
  int max_pd;
  int max_qp_rd_atom;
  int max_ee_rd_atom;
  int max_res_rd_atom;
  int max_qp_init_rd_atom;
  int max_ee_init_rd_atom;
  int atomic_cap;
  int unused[15]; // max_ee .. max_srq_sge
  uint16_t max_pkeys;
  uint8_t local_ca_ack_delay;
  uint8_t phys_port_cnt;
};

struct PortAttr { // ibv_port_attr
  int state;
  int max_mtu;
  int active_mtu;
  int gid_tbl_len;
  uint32_t port_cap_flags;
  uint32_t max_msg_sz;
  uint32_t bad_pkey_cntr;
  uint32_t qkey_viol_cntr;
  uint16_t pkey_tbl_len;
  uint16_t lid;
  uint16_t sm_lid;
  uint8_t lmc;
  uint8_t max_vl_num;
  uint8_t sm_sl;
  uint8_t subnet_timeout;
  uint8_t init_type_reply;
  uint8_t active_width;
  uint8_t active_speed;
  uint8_t phys_state;
  uint8_t link_layer;
  uint8_t flags;
  uint16_t port_cap_flags2;
};

struct alignas(8) Gid { // ibv_gid, network order
  uint8_t raw[16];
};

struct GlobalRoute { // ibv_global_route
  Gid dgid;
  uint32_t flow_label;
  uint8_t sgid_index;
  uint8_t hop_limit;
  uint8_t traffic_class;
};

struct AhAttr { // ibv_ah_attr
  GlobalRoute grh;
  uint16_t dlid;
  uint8_t sl;
  uint8_t src_path_bits;
  uint8_t static_rate;
  uint8_t is_global;
  uint8_t port_num;
};

struct QpCap { // ibv_qp_cap
  uint32_t max_send_wr;
  uint32_t max_recv_wr;
  uint32_t max_send_sge;
  uint32_t max_recv_sge;
  uint32_t max_inline_data;
};

struct QpInitAttr { // ibv_qp_init_attr
  void* qp_context;
  Cq* send_cq;
  Cq* recv_cq;
  void* srq;
  QpCap cap;
  int qp_type;
  int sq_sig_all;
};

struct QpAttr { // ibv_qp_attr
  int qp_state;
  int cur_qp_state;
  int path_mtu;
  int path_mig_state;
  uint32_t qkey;
  uint32_t rq_psn;
  uint32_t sq_psn;
  uint32_t dest_qp_num;
  unsigned qp_access_flags;
  QpCap cap;
  AhAttr ah_attr;
  AhAttr alt_ah_attr;
  uint16_t pkey_index;
  uint16_t alt_pkey_index;
  uint8_t en_sqd_async_notify;
  uint8_t sq_draining;
  uint8_t max_rd_atomic;
  uint8_t max_dest_rd_atomic;
  uint8_t min_rnr_timer;
  uint8_t port_num;
  uint8_t timeout;
  uint8_t retry_cnt;
  uint8_t rnr_retry;
  uint8_t alt_port_num;
  uint8_t alt_timeout;
  uint32_t rate_limit;
};

struct Sge { // ibv_sge
  uint64_t addr;
  uint32_t length;
  uint32_t lkey;
};

struct SendWr { // ibv_send_wr
  uint64_t wr_id;
  SendWr* next;
  Sge* sg_list;
  int num_sge;
  int opcode;
  unsigned send_flags;
  uint32_t imm_data; // big-endian
  union {
    struct {
      uint64_t remote_addr;
      uint32_t rkey;
    } rdma;
    struct {
      uint64_t remote_addr;
      uint64_t compare_add;
      uint64_t swap;
      uint32_t rkey;
    } atomic;
  } wr;
  uint64_t unused[7]; // qp_type, bind_mw and tso
};

struct RecvWr { // ibv_recv_wr
  uint64_t wr_id;
  RecvWr* next;
  Sge* sg_list;
  int num_sge;
};

struct Wc { // ibv_wc
  uint64_t wr_id;
  int status;
  int opcode;
  uint32_t vendor_err;
  uint32_t byte_len;
  uint32_t imm_data; // big-endian
  uint32_t qp_num;
  uint32_t src_qp;
  unsigned wc_flags;
  uint16_t pkey_index;
  uint16_t slid;
  uint8_t sl;
  uint8_t dlid_path_bits;
};

struct AsyncEvent { // ibv_async_event
  union {
    void* pointer;
    int port_num;
  } element;
  int event_type;
};

constexpr int kTransportIwarp = 1;   // IBV_TRANSPORT_IWARP
constexpr int kQptRc = 2;            // IBV_QPT_RC
constexpr int kPortActive = 4;       // IBV_PORT_ACTIVE
constexpr uint8_t kLinkEthernet = 2; // IBV_LINK_LAYER_ETHERNET
constexpr int kMtu256 = 1;           // IBV_MTU_256; each next one doubles
constexpr int kMtu4096 = 5;
constexpr int kAtomicNone = 0;                // IBV_ATOMIC_NONE
constexpr unsigned kAccessRemote = 2 | 4 | 8; // IBV_ACCESS_REMOTE_WRITE, _READ, _ATOMIC

enum QpState { kReset, kInit, kRtr, kRts, kSqd, kSqe, kErr };

enum QpMask : int {
  kMaskState = 1 << 0,
  kMaskAccess = 1 << 3,
  kMaskPkey = 1 << 4,
  kMaskPort = 1 << 5,
  kMaskAv = 1 << 7,
  kMaskMtu = 1 << 8,
  kMaskTimeout = 1 << 9,
  kMaskRetry = 1 << 10,
  kMaskRnr = 1 << 11,
  kMaskRqPsn = 1 << 12,
  kMaskRdAtomic = 1 << 13,
  kMaskMinRnr = 1 << 15,
  kMaskSqPsn = 1 << 16,
  kMaskDestRdAtomic = 1 << 17,
  kMaskDestQpn = 1 << 20,
};

enum WrOpcode { kWrWrite, kWrWriteImm, kWrSend, kWrSendImm, kWrRead, kWrCompareSwap, kWrFetchAdd };
enum SendFlags : unsigned { kSendFence = 1, kSendSignaled = 2, kSendSolicited = 4, kSendInline = 8 };

enum WcStatus {
  kWcSuccess = 0,
  kWcLocLen = 1,
  kWcLocQpOp = 2,
  kWcLocProt = 4,
  kWcFlush = 5,
  kWcMwBind = 6,
  kWcBadResp = 7,
  kWcLocAccess = 8,
  kWcRemInvReq = 9,
  kWcRemAccess = 10,
  kWcRemOp = 11,
  kWcRetry = 12,
  kWcRnr = 13,
  kWcRemInvRd = 15,
  kWcRemAbort = 16,
};
constexpr int kWcRecvWithImm = 129; // IBV_WC_RECV_RDMA_WITH_IMM
constexpr unsigned kWcWithImm = 2;  // IBV_WC_WITH_IMM

enum Event {
  kEventCqErr = 0,
  kEventQpFatal = 1,
  kEventQpReqErr = 2,
  kEventQpAccessErr = 3,
  kEventDeviceFatal = 8,
  kEventPortActive = 9,
  kEventPortErr = 10
};

} // namespace gpuverbs::verbs

#endif
