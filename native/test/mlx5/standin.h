/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control of the stand-in for libibverbs.so.1 and libmlx5.so.1: a ConnectX that executes DEVX commands as the firmware would, and
 * nothing else. The queues of the queue pairs that reach RTS are served by whoever the test hands them to.
 *
 *   LD_LIBRARY_PATH=BUILD/mlx5 java ...       the two libraries; these functions are in libibverbs.so.1
 *
 * What it knows of the command mailboxes is fields.tsv and umem.tsv. Each refusal sets status and syndrome of the command's answer and
 * errno as the kernel's mlx5 driver does, and is kept as a text for mlx5_standin_said. The syndromes are the stand-in's own.
 * Any thread.
 */
#ifndef MLX5_STANDIN_H
#define MLX5_STANDIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Everything as at the start: switches, faults, counters, texts. -1 while an object is alive (said names it), else 0. */
int mlx5_standin_reset(void);

/*
 * Switches of the machine; -1 for a name that isn't known. Their defaults make a ConnectX on Ethernet with everything:
 *   devices 1            how many, 1 or 2: mlx5_0, mlx5_1
 *   uverbs 0             1: ENOSYS, no RDMA in the kernel; 2: an empty device list; 3: devices can't be opened, EACCES
 *   devx 1               0: no DEVX contexts
 *   mlx5 1               0: mlx5dv_is_supported says no
 *   uar.dedicated 1, uar.nc 1, uar.bf 1     0: that kind of UAR is refused, EOPNOTSUPP
 *   port.state 4         1 down, 2 init, 4 active
 *   port.mtu 5           1 (256 bytes) .. 5 (4096)
 *   port.ethernet 1      0: InfiniBand
 *   port.lid 7           of mlx5_0; mlx5_1 has one more
 *   gids 4               how many entries of the GID table are set: 0 and 1 link-local, 2 and 3 IPv4; odd ones are RoCE v2
 *   atomics 1            0 none, 1 in the host's byte order, 2 big-endian
 *   dmabuf 1             0: dma-buf is refused, EOPNOTSUPP
 *   peermem 1            0: memory of the driver in test/fake_cuda.cpp can't be registered without dma-buf, EFAULT
 *   memlock -1           bytes that MRs and umems may have in all; -1 no limit
 *   old_kernel 0         1: errno by the command's status, no answer mailbox (before Linux 5.19); 0: EREMOTEIO
 *   contiguous 1         umems get the largest pages that their alignment allows, as physically contiguous memory would; 0: 4 KiB
 *   cap.STRUCT.FIELD     a capability, such as cap.cmd_hca_cap.cqe_version
 */
int mlx5_standin_set(const char* name, int64_t value);

/*
 * Counters and switches; -1 for a name that isn't known.
 *   live                 objects alive in all
 *   live.contexts .pds .mrs .umems .uars .cqs .qps .ahs .lists .channels .verbs_cqs .verbs_qps .events (taken, not acknowledged)
 *   live.relaxed_mrs     those of the MRs whose writes may pass each other
 *   abandoned            objects that were alive when their context was closed: the kernel destroys them
 *   refusals             commands and calls refused, injected faults not counted
 *   faults               injected faults that have hit
 *   calls, calls.SYMBOL  calls so far
 */
int64_t mlx5_standin_get(const char* name);

/*
 * Makes call number `nth` from now (1: the next) of `symbol`, or of any if it is empty, fail with errno `error`. If that is EREMOTEIO, a
 * command's answer says status 0x0f (no resources). One fault at a time; nth 0 removes it. A call that fails so does nothing. Functions
 * that return nothing can't fail: -1 for those and for unknown names.
 */
int mlx5_standin_fail(const char* symbol, int64_t nth, int error);
/* The symbols that can fail, a line each; mlx5dv_devx_obj_modify/2ERR is that function with the command to ERROR. */
const char* mlx5_standin_symbols(void);

/* Copies the texts of refusals, a line each, the newest last; how many bytes there are, which may be more than fit. */
int64_t mlx5_standin_said(char* out, int64_t bytes);

/* ---- serving ------------------------------------------------------------------------------------------------- */

enum {
  MLX5_STANDIN_READY = 1,   /* RTS reached: serve the queues from now on */
  MLX5_STANDIN_STOP = 2,    /* to RESET or destroyed: touch the queues no more; call returns when that is so */
  MLX5_STANDIN_FAIL = 3,    /* to ERROR by command */
  MLX5_STANDIN_STATE = 4,   /* 1 if the queue pair has gone to ERROR by itself */
  MLX5_STANDIN_MR = 5,      /* memory registered */
  MLX5_STANDIN_MR_GONE = 6, /* deregistered */
  MLX5_STANDIN_SENT = 7,    /* WQEBBs executed, the low 16 bits */
  MLX5_STANDIN_RECEIVED = 8 /* receives used, the low 16 bits */
};

/* Words of a queue pair. Addresses are of this process. */
enum {
  MLX5_QP_NUMBER,
  MLX5_QP_STATE, /* 0 RST, 1 INIT, 2 RTR, 3 RTS, 6 ERR */
  MLX5_QP_DEVICE,
  MLX5_QP_RING,
  MLX5_QP_DEPTH,        /* WQEBBs */
  MLX5_QP_RECEIVE_RING, /* 0 without a receive queue */
  MLX5_QP_RECEIVE_DEPTH,
  MLX5_QP_RECEIVE_STRIDE, /* bytes */
  MLX5_QP_DBR,
  MLX5_QP_DOORBELL,  /* the UAR's register */
  MLX5_QP_UAR_KIND,  /* 0 BlueFlame, 1 non-cached, 2 dedicated non-cached */
  MLX5_QP_UAR_USERS, /* queue pairs that have the same register */
  MLX5_QP_SEND_CQ,
  MLX5_QP_RECEIVE_CQ, /* CQ numbers; 0 none */
  MLX5_QP_REMOTE_NUMBER,
  MLX5_QP_REMOTE_DEVICE, /* that has the GID or LID connected to; -1 none has */
  MLX5_QP_SEND_PSN,
  MLX5_QP_RECEIVE_PSN,
  MLX5_QP_RETRIES,
  MLX5_QP_RNR_RETRIES,
  MLX5_QP_TIMEOUT, /* InfiniBand's code */
  MLX5_QP_MIN_RNR,
  MLX5_QP_MTU,              /* code */
  MLX5_QP_ACCESS,           /* bits of ibv_access_flags that peers have: from rre, rwe, rae */
  MLX5_QP_MAX_READS,        /* initiator's, log2 */
  MLX5_QP_MAX_TARGET_READS, /* log2 */
  MLX5_QP_PORT,
  MLX5_QP_PKEY,
  MLX5_QP_GID_INDEX,
  MLX5_QP_HOP_LIMIT,
  MLX5_QP_TRAFFIC_CLASS,
  MLX5_QP_SERVICE_LEVEL,
  MLX5_QP_REMOTE_LID,
  MLX5_QP_GRH,
  MLX5_QP_REMOTE_GID_HIGH, /* host order */
  MLX5_QP_REMOTE_GID_LOW,
  MLX5_QP_REMOTE_MAC,
  MLX5_QP_ATOMIC_MODE,
  MLX5_QP_WORDS
};

/* Words of a completion queue. */
enum {
  MLX5_CQ_NUMBER,
  MLX5_CQ_RING,
  MLX5_CQ_DEPTH,
  MLX5_CQ_COLLAPSED,
  MLX5_CQ_IGNORES_OVERRUN,
  MLX5_CQ_DBR,
  MLX5_CQ_DEVICE,
  MLX5_CQ_WORDS
};

/* Words of a memory region. */
enum { MLX5_MR_KEY, MLX5_MR_ADDRESS, MLX5_MR_LENGTH, MLX5_MR_ACCESS, MLX5_MR_DMABUF, MLX5_MR_WORDS };

/*
 * Called in the middle of the call that causes it, on its thread. `send` and `receive` are words of CQs, null where there is none.
 * 0, or an errno with which that call then fails (events READY and MR). Null: nobody serves.
 */
typedef int (*mlx5_standin_server)(int event, const int64_t* words, const int64_t* send, const int64_t* receive);
void mlx5_standin_serve(mlx5_standin_server server);

/* Forgets every object as the end of the process would, for a test that has counted what was left. Nobody may use one any more. */
void mlx5_standin_drop(void);

/* Words of a queue pair, or of a CQ, by number: how many, or -1 if there is none. */
int mlx5_standin_qp(uint32_t number, int64_t* words);
int mlx5_standin_cq(uint32_t number, int64_t* words);
/* Numbers of the queue pairs, at most `room`; how many there are. */
int mlx5_standin_qps(uint32_t* numbers, int room);
/* A number that changes with every object and every state; waits until it differs from `seen`, at most so long. */
int64_t mlx5_standin_wait(int64_t seen, int64_t milliseconds);

/* ---- what goes wrong by itself --------------------------------------------------------------------------------- */

/*
 * An asynchronous event of the device to ibv_get_async_event, as IBV_EVENT_*: PORT_ERR 10, PORT_ACTIVE 9, DEVICE_FATAL 8, GID_CHANGE 18.
 * How many contexts it went to; -1 for events of queue pairs and CQs, since those made by DEVX have none there: the kernel
 * reports them to DEVX subscriptions alone.
 */
int mlx5_standin_async(int device, int type, int port);
/*
 * An event of an object made by DEVX, or with number 0 of the device, as MLX5_EVENT_TYPE_*: CQ_ERROR 0x04, WQ_CATAS_ERROR 0x05,
 * WQ_INVAL_REQ_ERROR 0x10, WQ_ACCESS_ERROR 0x11, PORT_CHANGE 0x09, SYS_ERROR 0x08. Those of a queue pair take it to ERROR. How many
 * subscriptions it went to.
 */
int mlx5_standin_event(uint32_t number, int type);

#ifdef __cplusplus
}
#endif

#endif
