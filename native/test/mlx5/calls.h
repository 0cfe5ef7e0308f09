// SPDX-License-Identifier: Apache-2.0
// The calls by rdma-core's own headers, so that the stand-in is used as they say; where those aren't installed, by the stand-in's.
#ifndef GPUVERBS_TEST_MLX5_CALLS_H
#define GPUVERBS_TEST_MLX5_CALLS_H

#include "abi.h"

#if __has_include(<infiniband/mlx5dv.h>)
#include <infiniband/mlx5dv.h>
#define STANDIN_HEADERS 1
#else

using ibv_device = standin::IbvDevice;
using ibv_context = standin::IbvContext;
using ibv_pd = standin::IbvPd;
using ibv_mr = standin::IbvMr;
using ibv_ah = standin::IbvAh;
using ibv_device_attr = standin::IbvDeviceAttr;
using ibv_port_attr = standin::IbvPortAttr;
using ibv_gid = standin::IbvGid;
using ibv_async_event = standin::IbvAsyncEvent;
using mlx5dv_devx_umem = standin::DvUmem;
using mlx5dv_devx_umem_in = standin::DvUmemIn;
using mlx5dv_devx_uar = standin::DvUar;
using mlx5dv_context_attr = standin::DvContextAttr;
using mlx5dv_pd = standin::DvPd;
using mlx5dv_ah = standin::DvAh;
using mlx5dv_obj = standin::DvObj;
using mlx5dv_devx_event_channel = standin::DvEventChannel;
struct mlx5dv_devx_obj;
struct ibv_global_route {
  ibv_gid dgid;
  uint32_t flow_label;
  uint8_t sgid_index, hop_limit, traffic_class;
};
struct ibv_ah_attr {
  ibv_global_route grh;
  uint16_t dlid;
  uint8_t sl, src_path_bits, static_rate, is_global, port_num;
};
struct mlx5dv_devx_async_event_hdr {
  uint64_t cookie;
  uint8_t out_data[];
};
enum {
  IBV_ACCESS_LOCAL_WRITE = 1,
  IBV_ACCESS_REMOTE_WRITE = 2,
  IBV_ACCESS_REMOTE_READ = 4,
  IBV_ACCESS_REMOTE_ATOMIC = 8
};
enum { IBV_PORT_DOWN = 1, IBV_PORT_ACTIVE = 4, IBV_LINK_LAYER_INFINIBAND = 1, IBV_LINK_LAYER_ETHERNET = 2 };
enum { IBV_ATOMIC_NONE = 0, IBV_ATOMIC_HCA = 1, IBV_EVENT_PORT_ERR = 10, IBV_EVENT_QP_FATAL = 1 };
enum { MLX5DV_CONTEXT_FLAGS_DEVX = 1, MLX5DV_UAR_ALLOC_TYPE_BF = 0, MLX5DV_UAR_ALLOC_TYPE_NC = 1 };
enum { MLX5DV_OBJ_AH = 1 << 5, MLX5DV_OBJ_PD = 1 << 6, MLX5DV_UMEM_MASK_DMABUF = 1 };
enum mlx5dv_devx_create_event_channel_flags { MLX5DV_DEVX_NO_FLAGS = 0 };

extern "C" {
ibv_device** ibv_get_device_list(int*);
void ibv_free_device_list(ibv_device**);
ibv_context* ibv_open_device(ibv_device*);
int ibv_close_device(ibv_context*);
int ibv_query_device(ibv_context*, ibv_device_attr*);
int ibv_query_port(ibv_context*, uint8_t, ibv_port_attr*);
int ibv_query_gid(ibv_context*, uint8_t, int, ibv_gid*);
ibv_pd* ibv_alloc_pd(ibv_context*);
int ibv_dealloc_pd(ibv_pd*);
ibv_mr* ibv_reg_mr(ibv_pd*, void*, size_t, int);
ibv_mr* ibv_reg_dmabuf_mr(ibv_pd*, uint64_t, size_t, uint64_t, int, int);
int ibv_dereg_mr(ibv_mr*);
ibv_ah* ibv_create_ah(ibv_pd*, ibv_ah_attr*);
int ibv_destroy_ah(ibv_ah*);
int ibv_get_async_event(ibv_context*, ibv_async_event*);
void ibv_ack_async_event(ibv_async_event*);
bool mlx5dv_is_supported(ibv_device*);
ibv_context* mlx5dv_open_device(ibv_device*, mlx5dv_context_attr*);
int mlx5dv_init_obj(mlx5dv_obj*, uint64_t);
int mlx5dv_devx_general_cmd(ibv_context*, const void*, size_t, void*, size_t);
int mlx5dv_devx_query_eqn(ibv_context*, uint32_t, uint32_t*);
mlx5dv_devx_obj* mlx5dv_devx_obj_create(ibv_context*, const void*, size_t, void*, size_t);
int mlx5dv_devx_obj_modify(mlx5dv_devx_obj*, const void*, size_t, void*, size_t);
int mlx5dv_devx_obj_query(mlx5dv_devx_obj*, const void*, size_t, void*, size_t);
int mlx5dv_devx_obj_destroy(mlx5dv_devx_obj*);
mlx5dv_devx_umem* mlx5dv_devx_umem_reg(ibv_context*, void*, size_t, uint32_t);
mlx5dv_devx_umem* mlx5dv_devx_umem_reg_ex(ibv_context*, mlx5dv_devx_umem_in*);
int mlx5dv_devx_umem_dereg(mlx5dv_devx_umem*);
mlx5dv_devx_uar* mlx5dv_devx_alloc_uar(ibv_context*, uint32_t);
void mlx5dv_devx_free_uar(mlx5dv_devx_uar*);
mlx5dv_devx_event_channel* mlx5dv_devx_create_event_channel(ibv_context*, mlx5dv_devx_create_event_channel_flags);
void mlx5dv_devx_destroy_event_channel(mlx5dv_devx_event_channel*);
int mlx5dv_devx_subscribe_devx_event(mlx5dv_devx_event_channel*, mlx5dv_devx_obj*, uint16_t, uint16_t*, uint64_t);
ssize_t mlx5dv_devx_get_event(mlx5dv_devx_event_channel*, mlx5dv_devx_async_event_hdr*, size_t);
}
#endif

#endif
