// SPDX-License-Identifier: Apache-2.0
// Two queue pairs as a DEVX program makes them, for the stand-in's own tests.
#ifndef GPUVERBS_TEST_MLX5_RIG_H
#define GPUVERBS_TEST_MLX5_RIG_H

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "calls.h"
#include "check.h"
#include "mailboxes.h"
#include "standin.h"

constexpr size_t kPage = 4096;

inline std::string said() {
  char text[20000];
  mlx5_standin_said(text, sizeof text);
  return text;
}

inline std::string last_said() {
  std::string all = said();
  if (!all.empty()) all.pop_back();
  return all.substr(all.rfind('\n') + 1);
}

inline int64_t get(const char* name) { return mlx5_standin_get(name); }

inline ibv_context* open_devx() {
  ibv_device** list = ibv_get_device_list(nullptr);
  if (list == nullptr) return nullptr;
  mlx5dv_context_attr attr{};
  attr.flags = MLX5DV_CONTEXT_FLAGS_DEVX;
  ibv_context* context = list[0] == nullptr ? nullptr : mlx5dv_open_device(list[0], &attr);
  const int saved = errno;
  ibv_free_device_list(list);
  errno = saved;
  return context;
}

struct Rig {
  static constexpr size_t kBytes = 16 * kPage;
  static constexpr uint64_t kRing = 0, kSendCq = 10 * kPage, kReceiveCq = 11 * kPage, kDbr = 12 * kPage;

  ibv_context* context = open_devx();
  ibv_pd* pd = ibv_alloc_pd(context);
  void* block = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mlx5dv_devx_umem* umem = nullptr;
  mlx5dv_devx_uar* uar = mlx5dv_devx_alloc_uar(context, MLX5DV_UAR_ALLOC_TYPE_NC);
  uint32_t eqn = 0;
  uint32_t pdn = 0;
  mlx5dv_devx_obj *send_cq = nullptr, *receive_cq = nullptr, *qp = nullptr;
  cq_request cq_wanted{};
  qp_request qp_wanted{};
  path_request path{};
  alignas(8) uint8_t in[MAILBOX], out[8192];

  explicit Rig(bool with_qp = true) {
    umem = register_4k(IBV_ACCESS_LOCAL_WRITE);
    mlx5dv_devx_query_eqn(context, 0, &eqn);
    mlx5dv_obj obj{};
    mlx5dv_pd out_pd{};
    obj.pd.in = pd;
    obj.pd.out = &out_pd;
    mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD);
    pdn = out_pd.pdn;
    cq_wanted = {umem->umem_id, umem->umem_id, uar->page_id, eqn, kSendCq, kDbr, 0, 1, 1};
    send_cq = create_cq();
    const uint32_t send = read_cqn(out);
    cq_wanted.offset = kReceiveCq;
    cq_wanted.dbr = kDbr + 64;
    cq_wanted.collapsed = cq_wanted.ignore_overrun = 0;
    cq_wanted.log_size = 6;
    receive_cq = create_cq();
    const uint32_t receive = read_cqn(out);
    qp_wanted = {pdn, uar->page_id, send, receive, umem->umem_id, umem->umem_id, kRing, kDbr + 128, 6, 5};
    if (!with_qp) return;
    qp = create_qp();
    path.qpn = read_qpn(out);
    address(path.qpn);
  }

  ~Rig() {
    if (qp != nullptr) CHECK(mlx5dv_devx_obj_destroy(qp) == 0);
    if (send_cq != nullptr) CHECK(mlx5dv_devx_obj_destroy(send_cq) == 0);
    if (receive_cq != nullptr) CHECK(mlx5dv_devx_obj_destroy(receive_cq) == 0);
    CHECK(mlx5dv_devx_umem_dereg(umem) == 0);
    mlx5dv_devx_free_uar(uar);
    CHECK(ibv_dealloc_pd(pd) == 0);
    CHECK(ibv_close_device(context) == 0);
    munmap(block, kBytes);
    CHECK(get("live") == 0);
    CHECK(mlx5_standin_reset() == 0);
  }

  mlx5dv_devx_umem* register_4k(uint32_t access) const {
    mlx5dv_devx_umem_in wanted{};
    wanted.addr = block;
    wanted.size = kBytes;
    wanted.access = access;
    wanted.pgsz_bitmap = kPage;
    return mlx5dv_devx_umem_reg_ex(context, &wanted);
  }

  mlx5dv_devx_obj* create_cq() { return mlx5dv_devx_obj_create(context, in, fill_create_cq(in, &cq_wanted), out, 16); }

  mlx5dv_devx_obj* create_qp() { return mlx5dv_devx_obj_create(context, in, fill_create_qp(in, &qp_wanted), out, 16); }

  // To a queue pair of the same device.
  void address(uint32_t remote) {
    path.remote_qpn = remote;
    path.send_psn = 0x111;
    path.receive_psn = 0x222;
    path.mtu = 5;
    path.gid_index = 3;
    path.access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    ibv_gid gid{};
    ibv_query_gid(context, 1, 3, &gid);
    memcpy(path.rgid, gid.raw, 16);
    ibv_ah_attr attr{};
    memcpy(attr.grh.dgid.raw, gid.raw, 16);
    attr.grh.sgid_index = 3;
    attr.grh.hop_limit = 64;
    attr.is_global = 1;
    attr.port_num = 1;
    ibv_ah* ah = ibv_create_ah(pd, &attr);
    mlx5dv_obj obj{};
    mlx5dv_ah out_ah{};
    obj.ah.in = ah;
    obj.ah.out = &out_ah;
    mlx5dv_init_obj(&obj, MLX5DV_OBJ_AH);
    memcpy(path.rmac, out_ah.av->rmac, 6);
    ibv_destroy_ah(ah);
  }

  int modify(size_t bytes) { return mlx5dv_devx_obj_modify(qp, in, bytes, out, 16); }
  int to_init() { return modify(fill_rst2init(in, &path)); }
  int to_rtr() { return modify(fill_init2rtr(in, &path)); }
  int to_rts() { return modify(fill_rtr2rts(in, &path)); }
  int to_reset() { return modify(fill_plain(in, 0x50a, path.qpn)); }
  int to_error() { return modify(fill_plain(in, 0x507, path.qpn)); }
  int state() {
    return mlx5dv_devx_obj_query(qp, in, fill_plain(in, 0x50b, path.qpn), out, 272) == 0 ? read_state(out) : -1;
  }
};

#endif
