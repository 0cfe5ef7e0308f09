// SPDX-License-Identifier: Apache-2.0
// libibverbs, opened at run time.
#ifndef GPUVERBS_SRC_VERBS_LIBRARY_H
#define GPUVERBS_SRC_VERBS_LIBRARY_H

#include <cerrno>

#include "../error.h"
#include "abi.h"

namespace gpuverbs::verbs {

// The errno of a call that failed: some return it, some return -1 or nothing and set errno.
inline int failure(int result) { return result > 0 ? result : (errno != 0 ? errno : EIO); }

// Every entry: name in the table, exported symbol, result, parameters.
#define GV_VERBS_FUNCTIONS(X)                                         \
  X(GetDeviceList, ibv_get_device_list, Device**, (int*))             \
  X(FreeDeviceList, ibv_free_device_list, void, (Device**))           \
  X(OpenDevice, ibv_open_device, Context*, (Device*))                 \
  X(CloseDevice, ibv_close_device, int, (Context*))                   \
  X(QueryDevice, ibv_query_device, int, (Context*, DeviceAttr*))      \
  X(QueryPort, ibv_query_port, int, (Context*, uint8_t, PortAttr*))   \
  X(QueryGid, ibv_query_gid, int, (Context*, uint8_t, int, Gid*))     \
  X(AllocPd, ibv_alloc_pd, Pd*, (Context*))                           \
  X(DeallocPd, ibv_dealloc_pd, int, (Pd*))                            \
  X(RegMr, ibv_reg_mr, Mr*, (Pd*, void*, size_t, int))                \
  X(DeregMr, ibv_dereg_mr, int, (Mr*))                                \
  X(CreateCq, ibv_create_cq, Cq*, (Context*, int, void*, void*, int)) \
  X(DestroyCq, ibv_destroy_cq, int, (Cq*))                            \
  X(CreateQp, ibv_create_qp, Qp*, (Pd*, QpInitAttr*))                 \
  X(ModifyQp, ibv_modify_qp, int, (Qp*, QpAttr*, int))                \
  X(DestroyQp, ibv_destroy_qp, int, (Qp*))                            \
  X(GetAsyncEvent, ibv_get_async_event, int, (Context*, AsyncEvent*)) \
  X(AckAsyncEvent, ibv_ack_async_event, void, (AsyncEvent*))

struct Library {
#define GV_MEMBER(name, symbol, result, parameters) result(*name) parameters = nullptr;
  GV_VERBS_FUNCTIONS(GV_MEMBER)
#undef GV_MEMBER
};

// The table, opened at the first call; nullptr, with the reason in `error`, where there is no usable library.
const Library* library(gv_error* error);

} // namespace gpuverbs::verbs

#endif
