// SPDX-License-Identifier: Apache-2.0
// libmlx5's direct verbs, opened at run time. Declared by hand from rdma-core's providers/mlx5/mlx5dv.h; test/verbs_abi_test.cpp
// compares with that header where it is installed.
#ifndef GPUVERBS_SRC_VERBS_MLX5_LIBRARY_H
#define GPUVERBS_SRC_VERBS_MLX5_LIBRARY_H

#include <sys/types.h>

#include "library.h"

namespace gpuverbs::verbs {

struct DevxObject;    // mlx5dv_devx_obj
struct AddressHandle; // ibv_ah

struct DevxContextAttr { // mlx5dv_context_attr
  uint32_t flags;
  uint64_t comp_mask;
};

struct DevxUmem { // mlx5dv_devx_umem
  uint32_t umem_id;
};

struct DevxUmemIn { // mlx5dv_devx_umem_in
  void* addr;
  size_t size;
  uint32_t access;
  uint64_t pgsz_bitmap;
  uint64_t comp_mask;
  int dmabuf_fd;
};

struct DevxUar { // mlx5dv_devx_uar
  void* reg_addr;
  void* base_addr;
  uint32_t page_id;
  off_t mmap_off;
  uint64_t comp_mask;
};

struct DevxPd { // mlx5dv_pd
  uint32_t pdn;
  uint64_t comp_mask;
};

struct DevxAv { // mlx5_wqe_av
  uint8_t key[8];
  uint32_t dqp_dct;
  uint8_t stat_rate_sl;
  uint8_t fl_mlid;
  uint16_t rlid;
  uint8_t reserved0[4];
  uint8_t rmac[6];
  uint8_t tclass;
  uint8_t hop_limit;
  uint32_t grh_gid_fl;
  uint8_t rgid[16];
};

struct DevxAh { // mlx5dv_ah
  DevxAv* av;
  uint64_t comp_mask;
};

struct DevxInOut {
  void* in;
  void* out;
};

struct DevxObj { // mlx5dv_obj
  DevxInOut qp, cq, srq, rwq, dm, ah, pd;
};

struct DevxEventChannel { // mlx5dv_devx_event_channel
  int fd;
};

constexpr uint32_t kContextDevx = 1;                     // MLX5DV_CONTEXT_FLAGS_DEVX
constexpr uint64_t kObjAh = 1 << 5, kObjPd = 1 << 6;     // MLX5DV_OBJ_AH, _PD
constexpr uint32_t kUarBlueFlame = 0, kUarNonCached = 1; // MLX5DV_UAR_ALLOC_TYPE_BF, _NC
constexpr uint32_t kUarDedicated = 1u << 31;             // MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED
constexpr uint64_t kUmemDmabuf = 1;                      // MLX5DV_UMEM_MASK_DMABUF
constexpr int kOmitEventData = 1;                        // MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA

#define GV_MLX5_FUNCTIONS(X)                                                                        \
  X(IsSupported, mlx5dv_is_supported, bool, (Device*))                                              \
  X(OpenDevice, mlx5dv_open_device, Context*, (Device*, DevxContextAttr*))                          \
  X(InitObj, mlx5dv_init_obj, int, (DevxObj*, uint64_t))                                            \
  X(GeneralCmd, mlx5dv_devx_general_cmd, int, (Context*, const void*, size_t, void*, size_t))       \
  X(QueryEqn, mlx5dv_devx_query_eqn, int, (Context*, uint32_t, uint32_t*))                          \
  X(ObjCreate, mlx5dv_devx_obj_create, DevxObject*, (Context*, const void*, size_t, void*, size_t)) \
  X(ObjModify, mlx5dv_devx_obj_modify, int, (DevxObject*, const void*, size_t, void*, size_t))      \
  X(ObjQuery, mlx5dv_devx_obj_query, int, (DevxObject*, const void*, size_t, void*, size_t))        \
  X(ObjDestroy, mlx5dv_devx_obj_destroy, int, (DevxObject*))                                        \
  X(UmemRegEx, mlx5dv_devx_umem_reg_ex, DevxUmem*, (Context*, DevxUmemIn*))                         \
  X(UmemDereg, mlx5dv_devx_umem_dereg, int, (DevxUmem*))                                            \
  X(AllocUar, mlx5dv_devx_alloc_uar, DevxUar*, (Context*, uint32_t))                                \
  X(FreeUar, mlx5dv_devx_free_uar, void, (DevxUar*))                                                \
  X(CreateEventChannel, mlx5dv_devx_create_event_channel, DevxEventChannel*, (Context*, int))       \
  X(DestroyEventChannel, mlx5dv_devx_destroy_event_channel, void, (DevxEventChannel*))              \
  X(SubscribeEvent, mlx5dv_devx_subscribe_devx_event, int,                                          \
    (DevxEventChannel*, DevxObject*, uint16_t, uint16_t*, uint64_t))                                \
  X(GetEvent, mlx5dv_devx_get_event, ssize_t, (DevxEventChannel*, void*, size_t))

// With what of libibverbs only these paths need.
#define GV_MLX5_VERBS_FUNCTIONS(X)                           \
  X(CreateAh, ibv_create_ah, AddressHandle*, (Pd*, AhAttr*)) \
  X(DestroyAh, ibv_destroy_ah, int, (AddressHandle*))

// Null in an older libibverbs.
#define GV_MLX5_OPTIONAL(X) X(RegDmabufMr, ibv_reg_dmabuf_mr, Mr*, (Pd*, uint64_t, size_t, uint64_t, int, int))

struct Mlx5Library {
#define GV_MEMBER(name, symbol, result, parameters) result(*name) parameters = nullptr;
  GV_MLX5_FUNCTIONS(GV_MEMBER)
  GV_MLX5_VERBS_FUNCTIONS(GV_MEMBER)
  GV_MLX5_OPTIONAL(GV_MEMBER)
#undef GV_MEMBER
};

// The table, opened at the first call; nullptr, with the reason in `error`, where there is no usable library.
const Mlx5Library* mlx5_library(gv_error* error);

} // namespace gpuverbs::verbs

#endif
