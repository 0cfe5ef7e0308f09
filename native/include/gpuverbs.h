/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpuverbs: the whole C ABI of libgpuverbs.so. Java's bindings are generated from this file
 * (native/bindings/generate.sh); nothing else is exported.
 *
 * Conventions
 *  - Cold functions return 0 or a negative errno and take a gv_error* that receives the text. A NULL gv_error* is allowed.
 *  - Hot functions (gv_submit, gv_lanes_submit, gv_poll, gv_post_receive) return a ticket or a GV_* sentinel and
 *    check nothing that the caller could have checked once: their arguments must come from the functions here.
 *  - No function calls back, none throws, none prints.
 *  - Thread rule: any thread, unless the function says otherwise.
 */
#ifndef GPUVERBS_H
#define GPUVERBS_H

#include <stddef.h>
#include <stdint.h>

#include "gpuverbs/queue.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GV_API __attribute__((visibility("default")))
#else
#define GV_API
#endif

/* Raised whenever a struct or a function below changes; Java refuses a library of another version. */
#define GV_ABI_VERSION 1

typedef struct gv_error {
  int32_t code;   /* negative errno, as returned */
  int32_t detail; /* errno or CUresult of the call that failed; 0 none */
  char text[248]; /* UTF-8, NUL-terminated: what failed and what to do */
} gv_error;

GV_API int32_t gv_abi_version(void);
/* "1.0.0", static. */
GV_API const char* gv_version(void);

/* ---- queue memory ------------------------------------------------------------------------------------------ */

typedef struct gv_qp_attr {
  uint32_t depth;          /* send WQEBBs: a power of two, GV_MIN_DEPTH..GV_MAX_DEPTH */
  uint32_t receive_depth;  /* receive WQEs: 0 or a power of two up to GV_MAX_DEPTH */
  uint32_t handover;       /* GV_HANDOVER_* */
  uint32_t fence_mode;     /* GV_FENCE_* */
  uint32_t doorbell_every; /* a power of two, 1..1024 */
  uint32_t signal_every;   /* a power of two, 1..depth/4; 0: depth/4 */
  uint32_t max_group_wqebbs; /* W: the largest coalesced reservation; with it depth >= max(doorbell_every, signal_every) + W - 1 */
  uint32_t collapsed;      /* 1: collapsed send CQ; 0: a full CQ of the caller's */
  uint64_t submit_timeout_ns;
} gv_qp_attr;

/* The memory of one queue pair in host memory. All addresses are valid until gv_qp_destroy. */
typedef struct gv_qp {
  gv_sq* sq;
  uint64_t ring;          /* depth * 64 bytes, page-aligned */
  uint64_t receive_ring;  /* receive_depth * GV_RQ_STRIDE bytes; 0 without a receive queue */
  uint64_t dbr;           /* 8 bytes: be32 {receive, send} */
  uint64_t doorbell;      /* 8 bytes */
  uint64_t cqe;           /* 64 bytes: the collapsed CQE; 0 in full mode */
  uint64_t host_control;  /* 8 bytes */
  uint64_t receive_posted; /* receive WQEs posted, 64 bits wide */
  uint32_t depth;
  uint32_t receive_depth;
  uint64_t block;         /* the allocation, for gv_qp_destroy */
  uint64_t block_bytes;
} gv_qp;

/* Allocates and initialises a queue's memory: ring zeroed, CQE invalid, state RESET. -EINVAL names the wrong field. */
GV_API int32_t gv_qp_create(const gv_qp_attr* attr, gv_qp** out, gv_error* error);
/* Sets the QP number, then the state RTS. The queue must be RESET: -EISCONN else. */
GV_API int32_t gv_qp_ready(gv_qp* qp, uint32_t qpn, gv_error* error);
/* Both sides afresh: indexes, CQE, DBR and error cleared, state RESET. Nobody may be submitting. */
GV_API int32_t gv_qp_reset(gv_qp* qp, gv_error* error);
/* Marks the queue: every wait on it ends with that status. state: GV_STATE_ERROR or GV_STATE_CLOSED. */
GV_API void gv_qp_mark(gv_qp* qp, uint32_t state);
/* Frees the memory. Nobody may be using it. */
GV_API void gv_qp_destroy(gv_qp* qp);

/* An owner-bit CQ ring in host memory: depth CQEs of 64 bytes, each invalid. Page-aligned. */
GV_API int32_t gv_cq_create(uint32_t depth, uint64_t* ring, gv_error* error);
GV_API void gv_cq_destroy(uint64_t ring, uint32_t depth);

/* ---- submit ------------------------------------------------------------------------------------------------ */

/*
 * Runs the submit path on the calling thread: reserves all the WQEBBs of the batch at once (or returns GV_FULL and
 * changes nothing), then writes, publishes and rings in groups of at most GV_GROUP_REQUESTS.
 * Returns the WQE index of the last request, or GV_FULL, GV_NOT_CONNECTED, GV_QP_ERROR, GV_CLOSED, GV_TIMEOUT (the
 * turn did not come within submit_timeout_ns: the queue is in ERROR).
 * wqebbs: the sum of the requests' wqebbs, 1..depth.
 */
GV_API int64_t gv_submit(gv_sq* sq, const gv_request* requests, uint32_t count, uint32_t wqebbs);

/* What became of a ticket: GV_OK, GV_PENDING, or a positive syndrome; GV_CLOSED after close. Any thread. */
GV_API int64_t gv_poll(gv_sq* sq, uint64_t ticket);

/*
 * Full send CQ: the one consumer reports a CQE of this queue. wqe_counter and syndrome (0: success) as in the CQE. Returns
 * the 64-bit WQE index. One thread at a time.
 */
GV_API int64_t gv_complete(gv_sq* sq, uint32_t wqe_counter, uint32_t syndrome);

/* Posts one receive. Returns its 64-bit index, or GV_FULL given `completed` receives. One thread at a time. */
GV_API int64_t gv_post_receive(gv_qp* qp, const gv_segment* segments, uint32_t count, uint64_t completed);

/* ---- lane threads ------------------------------------------------------------------------------------------ */

typedef struct gv_lanes gv_lanes;

/* Starts 1..256 threads that run the submit path. */
GV_API int32_t gv_lanes_start(uint32_t lanes, gv_lanes** out, gv_error* error);
/*
 * Reserves the whole batch on the calling thread (or GV_FULL), then hands it to the lanes: each takes groups of at most
 * GV_GROUP_REQUESTS, writes, publishes and rings. Returns at once with the ticket. `requests` must stay valid and unchanged
 * until gv_lanes_idle says so or the ticket is done. GV_BUSY: too many batches in flight; nothing changed.
 * One thread at a time.
 */
GV_API int64_t gv_lanes_submit(gv_lanes* lanes, gv_sq* sq, const gv_request* requests, uint32_t count, uint32_t wqebbs);
/* 1 if no lane holds a batch of `sq` (NULL: of any queue), else 0. */
GV_API int32_t gv_lanes_idle(gv_lanes* lanes, const gv_sq* sq);
/* Stops and joins the threads; batches in flight are finished first. */
GV_API void gv_lanes_stop(gv_lanes* lanes);

#ifdef __cplusplus
}
#endif

#endif
