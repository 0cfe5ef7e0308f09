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
#define GV_ABI_VERSION 5

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
  uint32_t
      max_group_wqebbs; /* W: the largest coalesced reservation; with it depth >= max(doorbell_every, signal_every) + W - 1 */
  uint32_t collapsed; /* 1: collapsed send CQ; 0: a full CQ of the caller's */
  uint64_t submit_timeout_ns;
} gv_qp_attr;

/* The memory of one queue pair in host memory. All addresses are valid until gv_qp_destroy. */
typedef struct gv_qp {
  gv_sq* sq;
  uint64_t ring;           /* depth * 64 bytes; right behind the receive ring, where there is one */
  uint64_t receive_ring;   /* receive_depth * GV_RQ_STRIDE bytes; 0 without a receive queue */
  uint64_t dbr;            /* 8 bytes: be32 {receive, send} */
  uint64_t doorbell;       /* 8 bytes */
  uint64_t cqe;            /* 64 bytes: the collapsed CQE; 0 in full mode */
  uint64_t host_control;   /* 8 bytes */
  uint64_t receive_posted; /* receive WQEs posted, 64 bits wide */
  uint32_t depth;
  uint32_t receive_depth;
  uint64_t block; /* the allocation, for gv_qp_destroy */
  uint64_t block_bytes;
  uint64_t
      device_sq; /* a queue of a GPU: the handle that kernels take, in GPU memory; 0 else. `sq` is then the host's own
                             view: gv_poll works on it, gv_submit does not */
  uint64_t gpu;  /* gv_gpu* of such a queue; 0 else */
  uint64_t device_block; /* its allocation in GPU memory */
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

/* ---- CUDA: libcuda and libnvrtc are opened at run time ------------------------------------------------------ */

/*
 * Functions below return 0, or a negative errno with the reason in gv_error (detail: the CUresult or nvrtcResult):
 * -ENODEV no driver or no device, -ENOSYS a library or a symbol of it is missing, -ENOMEM, -EINVAL, -EIO a CUDA error. They make the GPU's
 * context current for the call alone. Any thread.
 */
typedef struct gv_gpu gv_gpu;

typedef struct gv_gpu_info {
  char name[128];
  int32_t ordinal;
  int32_t driver_version; /* 13000: CUDA 13.0 */
  int32_t compute_major;
  int32_t compute_minor;
  int32_t multiprocessors;
  int32_t can_map_host_memory; /* 0 or 1 */
  int32_t gpu_direct_rdma;     /* 0 or 1: memory of this GPU can be registered with a NIC */
  int32_t writes_ordering;     /* CU_GPU_DIRECT_RDMA_WRITES_ORDERING_*: 0 none, 100 owner, 200 all devices */
  uint64_t memory_bytes;
} gv_gpu_info;

#define GV_MEMORY_DEVICE 0 /* cuMemAlloc */
#define GV_MEMORY_PINNED 1 /* page-locked host memory, mapped into every GPU at the same address */
#define GV_MEMORY_MANAGED 2
#define GV_MEMORY_POOL 3    /* cudaMallocAsync: no NIC can register it */
#define GV_MEMORY_UNKNOWN 4 /* plain host memory, or freed */

typedef struct gv_pointer_info {
  int32_t kind;            /* GV_MEMORY_* */
  int32_t ordinal;         /* GPU that owns it, -1 unknown */
  int32_t gpu_direct_rdma; /* 0 or 1 */
  int32_t reserved;
  uint64_t context;
  uint64_t base; /* of the allocation */
  uint64_t bytes;
} gv_pointer_info;

/* Opens libcuda and initialises it; 0 if a GPU can be used. */
GV_API int32_t gv_cuda_available(gv_error* error);
GV_API int32_t gv_nvrtc_available(gv_error* error);
GV_API int32_t gv_gpu_count(int32_t* count, gv_error* error);
GV_API int32_t gv_gpu_info_of(int32_t ordinal, gv_gpu_info* out, gv_error* error);
/* Retains the primary context of a GPU: the one that the CUDA runtime and most libraries use. */
GV_API int32_t gv_gpu_open(int32_t ordinal, gv_gpu** out, gv_error* error);
/* Borrows a context (a CUcontext) that somebody else owns. */
GV_API int32_t gv_gpu_borrow(uint64_t context, gv_gpu** out, gv_error* error);
GV_API uint64_t gv_gpu_context(gv_gpu* gpu);
GV_API int32_t gv_gpu_ordinal(gv_gpu* gpu);
/* Releases what gv_gpu_open retained. Everything made from it must be gone. */
GV_API void gv_gpu_close(gv_gpu* gpu);
/* 0, or -EIO once a sticky error has poisoned the context. */
GV_API int32_t gv_gpu_health(gv_gpu* gpu, gv_error* error);
/* Waits, without a bound, for all work of the context that was submitted before: for a thread that may be left behind. */
GV_API int32_t gv_gpu_synchronize(gv_gpu* gpu, gv_error* error);

GV_API int32_t gv_gpu_allocate(gv_gpu* gpu, uint64_t bytes, int32_t kind, uint64_t* address, gv_error* error);
GV_API int32_t gv_gpu_free(gv_gpu* gpu, uint64_t address, int32_t kind, gv_error* error);
GV_API int32_t gv_gpu_describe(gv_gpu* gpu, uint64_t address, gv_pointer_info* out, gv_error* error);
/* Copies between any two of GPU, pinned and plain host memory on the library's own stream and waits for it. */
GV_API int32_t gv_gpu_copy(gv_gpu* gpu, uint64_t to, uint64_t from, uint64_t bytes, gv_error* error);
GV_API int32_t gv_gpu_fill(gv_gpu* gpu, uint64_t address, uint32_t byte, uint64_t bytes, gv_error* error);

/* Streams and events are CUstream and CUevent; stream 0 is the context's legacy default, 1 and 2 CUDA's named ones. */
GV_API int32_t gv_stream_create(gv_gpu* gpu, uint64_t* stream, gv_error* error);
GV_API int32_t gv_stream_destroy(gv_gpu* gpu, uint64_t stream, gv_error* error);
/* 0 done, 1 not yet, or a negative errno: an error is never "not yet". */
GV_API int32_t gv_stream_query(gv_gpu* gpu, uint64_t stream, gv_error* error);
/* -EINVAL if the stream belongs to another context, -EBUSY if it is capturing a graph. */
GV_API int32_t gv_stream_check(gv_gpu* gpu, uint64_t stream, gv_error* error);
/* Copies on a stream, in its order, without waiting. */
GV_API int32_t gv_stream_copy(gv_gpu* gpu, uint64_t stream, uint64_t to, uint64_t from, uint64_t bytes,
                              gv_error* error);
GV_API int32_t gv_event_create(gv_gpu* gpu, uint64_t* event, gv_error* error);
GV_API int32_t gv_event_destroy(gv_gpu* gpu, uint64_t event, gv_error* error);
GV_API int32_t gv_event_record(gv_gpu* gpu, uint64_t event, uint64_t stream, gv_error* error);
GV_API int32_t gv_event_query(gv_gpu* gpu, uint64_t event, gv_error* error);

/*
 * Compiles CUDA C++ with NVRTC for the GPU's architecture into a cubin. headers/names: `header_count` sources that
 * #include finds. The log (compiler messages with line numbers) is written to `log`, cut to log_bytes. The image is freed by
 * gv_image_free.
 */
GV_API int32_t gv_compile(gv_gpu* gpu, const char* source, const char* name, const char* const* headers,
                          const char* const* header_names, uint32_t header_count, const char* const* options,
                          uint32_t option_count, uint64_t* image, uint64_t* image_bytes, char* log, uint32_t log_bytes,
                          gv_error* error);
GV_API void gv_image_free(uint64_t image);
/* image: a cubin, or PTX text ending with NUL. */
GV_API int32_t gv_module_load(gv_gpu* gpu, uint64_t image, uint64_t* module, gv_error* error);
GV_API int32_t gv_module_unload(gv_gpu* gpu, uint64_t module, gv_error* error);
/* Loads the function too, so that its first launch loads nothing: beside a running kernel that could wait for it forever. */
GV_API int32_t gv_module_function(gv_gpu* gpu, uint64_t module, const char* name, uint64_t* function, gv_error* error);
/* Sizes in bytes of the function's parameters, at most `room` of them. Returns how many there are, or -ENOSYS (an older driver). */
GV_API int32_t gv_function_parameters(gv_gpu* gpu, uint64_t function, uint64_t* sizes, int32_t room, gv_error* error);
/* args: `function`'s parameters, an array of pointers to them. Asynchronous. */
GV_API int32_t gv_launch(gv_gpu* gpu, uint64_t function, uint64_t stream, uint32_t grid_x, uint32_t grid_y,
                         uint32_t grid_z, uint32_t block_x, uint32_t block_y, uint32_t block_z, uint32_t shared_bytes,
                         void** args, gv_error* error);

/* ---- queues of a GPU ---------------------------------------------------------------------------------------- */

#define GV_PLACEMENT_GPU 0  /* ring, DBR and CQE in GPU memory; the doorbell in pinned host memory */
#define GV_PLACEMENT_HOST 1 /* ring, DBR, doorbell and CQE in pinned host memory */

/*
 * Like gv_qp_create, for kernels as submitters: the heads lie in GPU memory, the handle is gv_qp.device_sq. Fence mode DEVICE needs
 * GV_PLACEMENT_GPU. gv_qp_ready, gv_qp_reset, gv_qp_mark and gv_qp_destroy work on it. With GV_PLACEMENT_GPU
 * ring, dbr and cqe are device addresses, which the host must not touch; gv_poll works on a mirror that gv_gpu_qp_read brings up to date.
 */
GV_API int32_t gv_gpu_qp_create(gv_gpu* gpu, const gv_qp_attr* attr, int32_t placement, gv_qp** out, gv_error* error);
/*
 * Copies the device's gv_sq, in GPU memory, to `out` in host memory: counters, heads, state; and what gv_poll looks at. Waits for the
 * copies alone. One thread at a time.
 */
GV_API int32_t gv_gpu_qp_read(gv_qp* qp, gv_sq* out, gv_error* error);

/*
 * One batch by the built-in kernel of the queue's policy, asynchronously, in the stream's order. The caller has reserved: slots
 * [base, base + wqebbs) are this batch's, and nobody else submits on the queue. requests: in pinned host or device memory,
 * unchanged until the ticket is done. starts: WQE index of each group of 32 requests, pinned or device memory.
 * Returns 0 or a negative errno.
 */
GV_API int32_t gv_gpu_submit(gv_qp* qp, uint64_t function, uint64_t stream, uint64_t requests, uint64_t starts,
                             uint32_t count, uint32_t wqebbs, uint64_t base, gv_error* error);

/* ---- copies for the software NIC's GPU payloads -------------------------------------------------------------- */

/* Starts a copy on a stream made beforehand; allocates nothing and waits for nothing. */
GV_API int32_t gv_copy_start(gv_gpu* gpu, uint64_t stream, uint64_t to, uint64_t from, uint64_t bytes);

/* ---- verbs devices, and the proxy that serves queues on them ------------------------------------------------- */

/*
 * libibverbs is opened at run time. Functions below return 0, or a negative errno with the reason in gv_error (detail: errno of the
 * call that failed): -ENODEV no library or no such device, -EOPNOTSUPP a device that can't do it, -ENOMEM mostly the
 * limit of locked memory, -EINVAL. Any thread.
 */
typedef struct gv_verbs gv_verbs;
typedef struct gv_proxy gv_proxy;
typedef struct gv_proxy_cq gv_proxy_cq;

typedef struct gv_verbs_info {
  char firmware[64];
  uint64_t guid;     /* of the node, host order */
  uint64_t gid_high; /* of the port's GID that was asked for, host order; 0 without one */
  uint64_t gid_low;
  uint64_t max_message_bytes;
  uint32_t port_active; /* 0 or 1 */
  uint32_t ethernet;    /* 1: RoCE, 0: InfiniBand */
  uint32_t lid;
  uint32_t mtu;               /* active, bytes */
  uint32_t atomics;           /* 0 or 1 */
  uint32_t max_work_requests; /* of a queue */
  uint32_t max_segments;      /* of a request */
  uint32_t max_reads;         /* outstanding RDMA reads and atomics of a queue pair, as initiator and as target */
} gv_verbs_info;

typedef struct gv_verbs_region {
  uint64_t handle; /* for gv_verbs_deregister */
  uint32_t lkey;
  uint32_t rkey;
} gv_verbs_region;

/* 0 if libibverbs can be opened. */
GV_API int32_t gv_verbs_available(gv_error* error);
/* Opens a device, looks at a port and, unless gid_index is negative, at its GID; checks that RC queue pairs can be made. */
GV_API int32_t gv_verbs_open(const char* name, uint32_t port, int32_t gid_index, gv_verbs** out, gv_verbs_info* info,
                             gv_error* error);
/* Everything made from it must be gone; -EBUSY else, and nothing is freed. */
GV_API int32_t gv_verbs_close(gv_verbs* verbs, gv_error* error);
/* access: bits of enum ibv_access_flags. */
GV_API int32_t gv_verbs_register(gv_verbs* verbs, uint64_t address, uint64_t length, uint32_t access,
                                 gv_verbs_region* out, gv_error* error);
/* Memory of a GPU: by dma-buf where driver, kernel and NIC can, else through nvidia-peermem. */
GV_API int32_t gv_verbs_register_gpu(gv_verbs* verbs, gv_gpu* gpu, uint64_t address, uint64_t length, uint32_t access,
                                     gv_verbs_region* out, gv_error* error);
GV_API int32_t gv_verbs_deregister(gv_verbs* verbs, uint64_t handle, gv_error* error);

/* Producer of a CQ that gv_cq_create made. */
GV_API int32_t gv_proxy_cq_create(uint64_t ring, uint32_t depth, gv_proxy_cq** out, gv_error* error);
/* How many CQEs the consumer has taken in all. One thread at a time. */
GV_API void gv_proxy_cq_consumed(gv_proxy_cq* cq, uint64_t consumed);
/* The queue pairs that use it must be gone. */
GV_API void gv_proxy_cq_destroy(gv_proxy_cq* cq);

/*
 * Serves the rings of `qp`, which lie in host memory, on the device: an RC queue pair and a thread, shared by the device's
 * queue pairs, that takes doorbells, posts, and writes the completions. send_cq: NULL for a collapsed CQ. number: the queue
 * pair's, kept over reset, for gv_qp_ready.
 */
GV_API int32_t gv_proxy_create(gv_verbs* verbs, gv_qp* qp, gv_proxy_cq* send_cq, gv_proxy_cq* receive_cq,
                               uint32_t pkey_index, gv_proxy** out, uint32_t* number, gv_error* error);

typedef struct gv_proxy_remote {
  uint64_t gid_high; /* host order; 0 without one */
  uint64_t gid_low;
  uint32_t number;
  uint32_t packet_sequence;
  uint32_t local_packet_sequence;
  uint32_t lid;
  uint32_t mtu;           /* bytes, that both ends take */
  uint32_t service_level; /* 0..15 */
  uint32_t traffic_class; /* 0..255 */
  uint32_t timeout;       /* 4.096 us * 2^timeout until a packet is sent again; 0 waits forever */
  uint32_t retries;       /* 0..7 */
  uint32_t rnr_retries;   /* 0..7; 7 forever */
  uint32_t rnr_timer;     /* IB code 0..31 that this end asks of peers that find no receive; 12: 0.64 ms */
} gv_proxy_remote;

/* To RTR and RTS. */
GV_API int32_t gv_proxy_connect(gv_proxy* proxy, const gv_proxy_remote* remote, gv_error* error);
/* Forgets what is outstanding; the rings are not touched any more when it returns. */
GV_API int32_t gv_proxy_reset(gv_proxy* proxy, gv_error* error);
/* GV_STATE_RESET, GV_STATE_RTS or GV_STATE_ERROR. */
GV_API int32_t gv_proxy_state(gv_proxy* proxy);
/* Destroys the queue pair; the rings and the CQs are not touched any more when it returns 0. */
GV_API int32_t gv_proxy_destroy(gv_proxy* proxy, gv_error* error);

/* ---- mlx5 devices whose NIC reads the queues itself: path DIRECT ---------------------------------------------- */

/*
 * libmlx5 is opened at run time too. A gv_verbs of an mlx5 device is opened for DEVX where that is possible, so that it serves both paths. Errors as
 * above; a command that the firmware refused is -EREMOTEIO with its status and syndrome in the text.
 */
typedef struct gv_direct gv_direct;
typedef struct gv_direct_cq gv_direct_cq;

/* Where a doorbell register comes from, best first. */
#define GV_UAR_DEDICATED 0 /* a non-cached register of the queue pair's own */
#define GV_UAR_NON_CACHED 1
#define GV_UAR_BLUEFLAME 2 /* write-combining */

/* Who rings. */
#define GV_RINGER_SUBMITTER 0
#define GV_RINGER_CPU 1 /* a thread of the library, where the submitter's GPU can't have the register */

/* How the NIC reaches the queue's memory. */
#define GV_UMEM_HOST 0
#define GV_UMEM_DMABUF 1
#define GV_UMEM_PEER 2 /* nvidia-peermem */

typedef struct gv_direct_info {
  uint32_t max_depth;        /* send WQEBBs of a queue pair */
  uint32_t max_inline_bytes; /* of a WQE as large as the NIC takes */
  uint32_t max_cqes;
  uint32_t atomics;  /* 0 none, 1 with the 8 bytes in host order, 2 in network order */
  uint32_t best_uar; /* GV_UAR_*: the best kind that the device gives */
  uint32_t dmabuf;   /* 0 or 1: libibverbs and libmlx5 can register dma-bufs */
} gv_direct_info;

typedef struct gv_direct_attr {
  uint32_t pkey_index;
  uint32_t ringer;  /* GV_RINGER_*: CPU asks for the thread even where it is not needed */
  uint32_t atomics; /* 0 or 1: whether the peer may do atomics */
  uint32_t reserved;
} gv_direct_attr;

/* What was taken, and why nothing better. */
typedef struct gv_direct_report {
  uint32_t number; /* of the queue pair, kept over reset */
  uint32_t uar;    /* GV_UAR_* */
  uint32_t ringer; /* GV_RINGER_* */
  uint32_t umem;   /* GV_UMEM_* */
  char why[240];   /* empty if all is the best there is */
} gv_direct_report;

typedef struct gv_direct_status {
  int32_t state;       /* GV_STATE_RESET, GV_STATE_RTS or GV_STATE_ERROR, as the NIC says */
  uint32_t nic_state;  /* QPC.state: 0 RST, 1 INIT, 2 RTR, 3 RTS, 4 SQER, 5 SQD, 6 ERR, 9 suspended */
  uint32_t send_pi;    /* hw_sq_wqebb_counter, 16 bits */
  uint32_t receive_pi; /* hw_rq_counter */
  uint32_t remote;     /* QP number of the peer */
  uint32_t event;      /* 1 + ibv_event_type of the last asynchronous event; 0 none */
} gv_direct_status;

/* 0 if queue pairs of path DIRECT can be made on the device: DEVX, the firmware's capabilities and a UAR were tried. */
GV_API int32_t gv_direct_available(gv_verbs* verbs, gv_direct_info* info, gv_error* error);
/* A CQ of the NIC's on a ring that gv_cq_create made. Destroyed after the queue pairs that use it; -EBUSY else. */
GV_API int32_t gv_direct_cq_create(gv_verbs* verbs, uint64_t ring, uint32_t depth, gv_direct_cq** out, gv_error* error);
/* How many CQEs the consumer has taken in all. One thread at a time. */
GV_API void gv_direct_cq_consumed(gv_direct_cq* cq, uint64_t consumed);
GV_API int32_t gv_direct_cq_destroy(gv_direct_cq* cq, gv_error* error);
/*
 * An RC queue pair on the memory of `qp` (host memory, or of a GPU), in INIT. Sets qp's doorbell. send_cq: NULL for the collapsed CQ in qp's memory.
 */
GV_API int32_t gv_direct_create(gv_verbs* verbs, gv_qp* qp, gv_direct_cq* send_cq, gv_direct_cq* receive_cq,
                                const gv_direct_attr* attr, gv_direct** out, gv_direct_report* report, gv_error* error);
/* To RTR and RTS. */
GV_API int32_t gv_direct_connect(gv_direct* direct, const gv_proxy_remote* remote, gv_error* error);
/* To RST and INIT; the NIC touches the rings no more when it returns 0. */
GV_API int32_t gv_direct_reset(gv_direct* direct, gv_error* error);
/* Without asking the NIC: what the last call or an asynchronous event left. */
GV_API int32_t gv_direct_state(gv_direct* direct);
GV_API int32_t gv_direct_query(gv_direct* direct, gv_direct_status* out, gv_error* error);
/* in_use: 1 if kernels may still ring. Then their doorbell register stays mapped, and rings nothing, until the process ends. */
GV_API int32_t gv_direct_destroy(gv_direct* direct, uint32_t in_use, gv_error* error);

#ifdef __cplusplus
}
#endif

#endif
