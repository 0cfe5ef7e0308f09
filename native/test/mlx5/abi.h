// SPDX-License-Identifier: Apache-2.0
// What the stand-in offers of libibverbs' and libmlx5's binary interface, declared by hand and apart from src/verbs, so that
// neither copies the other's mistakes. Source: rdma-core, libibverbs/verbs.h and providers/mlx5/mlx5dv.h; standin_test.cpp compares
// sizes and offsets where those are installed.
#ifndef GPUVERBS_TEST_MLX5_ABI_H
#define GPUVERBS_TEST_MLX5_ABI_H

#include <pthread.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace standin {

struct IbvDevice {
  void* ops[2];
  int node_type;
  int transport_type;
  char name[64];
  char dev_name[64];
  char dev_path[256];
  char ibdev_path[256];
};

struct IbvContext {
  IbvDevice* device;
  void* ops[32]; // [11] poll_cq, [25] post_send, [26] post_recv
  int cmd_fd;
  int async_fd;
  int num_comp_vectors;
  pthread_mutex_t mutex;
  void* abi_compat; // null: no extended verbs, so that verbs.h's inline functions call the exported symbols
};

struct IbvPd {
  IbvContext* context;
  uint32_t handle;
};

struct IbvMr {
  IbvContext* context;
  IbvPd* pd;
  void* addr;
  size_t length;
  uint32_t handle;
  uint32_t lkey;
  uint32_t rkey;
};

struct IbvAh {
  IbvContext* context;
  IbvPd* pd;
  uint32_t handle;
};

struct IbvCq {
  IbvContext* context;
  void* channel;
  void* cq_context;
  uint32_t handle;
  int cqe;
  char rest[128]; // mutex, cond and event counts
};

struct IbvQp {
  IbvContext* context;
  void* qp_context;
  IbvPd* pd;
  IbvCq* send_cq;
  IbvCq* recv_cq;
  void* srq;
  uint32_t handle;
  uint32_t qp_num;
  int state;
  int qp_type;
  char rest[128];
};

struct IbvDeviceAttr {
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
  int unused[14]; // max_ee .. max_srq_sge
  uint16_t max_pkeys;
  uint8_t local_ca_ack_delay;
  uint8_t phys_port_cnt;
};

struct IbvPortAttr {
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
  uint16_t port_cap_flags2; // written only where the caller's struct has it: ibv_query_port is older than this field
};

struct alignas(8) IbvGid {
  uint8_t raw[16];
};

struct IbvAhAttr {
  IbvGid dgid;
  uint32_t flow_label;
  uint8_t sgid_index;
  uint8_t hop_limit;
  uint8_t traffic_class;
  uint16_t dlid;
  uint8_t sl;
  uint8_t src_path_bits;
  uint8_t static_rate;
  uint8_t is_global;
  uint8_t port_num;
};

struct IbvQpInitAttr {
  void* qp_context;
  IbvCq* send_cq;
  IbvCq* recv_cq;
  void* srq;
  uint32_t cap[5];
  int qp_type;
  int sq_sig_all;
};

struct IbvAsyncEvent {
  union {
    void* pointer;
    int port_num;
  } element;
  int event_type;
};

struct DvContextAttr {
  uint32_t flags;
  uint64_t comp_mask;
};

struct DvUmem {
  uint32_t umem_id;
};

struct DvUmemIn {
  void* addr;
  size_t size;
  uint32_t access;
  uint64_t pgsz_bitmap;
  uint64_t comp_mask;
  int dmabuf_fd;
};

struct DvUar {
  void* reg_addr;
  void* base_addr;
  uint32_t page_id;
  off_t mmap_off;
  uint64_t comp_mask;
};

struct DvPd {
  uint32_t pdn;
  uint64_t comp_mask;
};

struct DvAv { // mlx5_wqe_av
  uint8_t key[8];
  uint32_t dqp_dct;
  uint8_t stat_rate_sl;
  uint8_t fl_mlid;
  uint16_t rlid; // big-endian
  uint8_t reserved0[4];
  uint8_t rmac[6];
  uint8_t tclass;
  uint8_t hop_limit;
  uint32_t grh_gid_fl; // big-endian
  uint8_t rgid[16];
};

struct DvAh {
  DvAv* av;
  uint64_t comp_mask;
};

struct DvInOut {
  void* in;
  void* out;
};

struct DvObj { // mlx5dv_obj
  DvInOut qp, cq, srq, rwq, dm, ah, pd;
};

struct DvEventChannel {
  int fd;
};

constexpr int kPortDown = 1, kPortActive = 4;
constexpr int kLinkInfiniband = 1, kLinkEthernet = 2;
constexpr unsigned kLocalWrite = 1, kRemoteWrite = 2, kRemoteRead = 4, kRemoteAtomic = 8, kRelaxedOrdering = 1u << 20;
constexpr uint32_t kContextDevx = 1;                 // MLX5DV_CONTEXT_FLAGS_DEVX
constexpr uint32_t kUarBf = 0, kUarNc = 1;           // MLX5DV_UAR_ALLOC_TYPE_BF, _NC
constexpr uint32_t kUarNcDedicated = 1u << 31;       // MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED of rdma-core's providers/mlx5
constexpr uint64_t kObjAh = 1 << 5, kObjPd = 1 << 6; // MLX5DV_OBJ_AH, _PD

} // namespace standin

#endif
