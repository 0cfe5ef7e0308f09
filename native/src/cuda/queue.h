// SPDX-License-Identifier: Apache-2.0
// What gv_qp_ready, gv_qp_reset, gv_qp_mark and gv_qp_destroy do for a queue of a GPU.
#ifndef GPUVERBS_SRC_CUDA_QUEUE_H
#define GPUVERBS_SRC_CUDA_QUEUE_H

#include "gpuverbs.h"

namespace gpuverbs::cuda {

// Writes the device's gv_sq afresh from the host's, heads and counters zero, with this state.
int32_t write_device_sq(gv_qp* qp, uint32_t state, gv_error* error);
// Rings, CQE, DBR, doorbell and bitmap afresh, then the device's gv_sq in RESET.
int32_t clear_device_queue(gv_qp* qp, gv_error* error);
// Sets the device's state word: every kernel that waits on the queue reads it.
void mark_device_queue(gv_qp* qp, uint32_t state);
void destroy_device_queue(gv_qp* qp);

} // namespace gpuverbs::cuda

#endif
