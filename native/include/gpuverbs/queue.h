/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a queue pair, as seen by everyone who touches it: submitters in a CUDA kernel, lane threads,
 * the C ABI and, through generated layouts, Java. Plain C; no include but <stdint.h>.
 *
 * The send ring, the doorbell record, the doorbell word and the CQEs are bit-for-bit mlx5 and belong to the NIC.
 * gv_sq is ours: the NIC never reads it.
 */
#ifndef GPUVERBS_QUEUE_H
#define GPUVERBS_QUEUE_H

#if defined(__CUDACC_RTC__)
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef signed short int16_t;
typedef signed int int32_t;
typedef signed long long int64_t;
#else
#include <stdint.h>
#endif

/* Sizes fixed by mlx5 (rdma-core providers/mlx5/mlx5dv.h: MLX5_SEND_WQE_BB, struct mlx5_cqe64). */
#define GV_WQEBB 64
#define GV_CQE_SIZE 64
#define GV_RQ_STRIDE 64
#define GV_MAX_SEGMENTS 3
#define GV_MIN_DEPTH 64
#define GV_MAX_DEPTH 16384
/* The largest coalesced reservation: 32 requests, as a warp makes them. */
#define GV_GROUP_REQUESTS 32

/* Operations of a request (not wire opcodes). */
#define GV_OP_NOP 0
#define GV_OP_WRITE 1
#define GV_OP_WRITE_IMM 2
#define GV_OP_WRITE_INLINE 3
#define GV_OP_READ 4
#define GV_OP_SEND 5
#define GV_OP_SEND_IMM 6
#define GV_OP_COMPARE_SWAP 7
#define GV_OP_FETCH_ADD 8

/* Request flags. */
#define GV_FLAG_SIGNALED 0x01
#define GV_FLAG_SOLICITED 0x02
#define GV_FLAG_FENCE 0x04

/* Hand-over: how a submitter passes the right to publish on to its successor. */
#define GV_HANDOVER_CLASSIC 0           /* CAS chain on ready_head, doorbell under a lock */
#define GV_HANDOVER_TURN_CAS 1          /* ready_head is the lock, passed on by one CAS */
#define GV_HANDOVER_TURN_LDST 2         /* ready_head is the lock, passed on by ld.acquire / st.release */
#define GV_HANDOVER_BITMAP 3            /* one ready bit a slot, the winner scans and rings */
#define GV_HANDOVER_EXCLUSIVE 4         /* one submitter by contract */
#define GV_HANDOVER_UNCHECKED_NOLOCK 5  /* unsound: CLASSIC that rings without the lock */
#define GV_HANDOVER_UNCHECKED_RELAXED 6 /* unsound from three submitters: TURN with relaxed load and store */

/* Fence modes. */
#define GV_FENCE_SYSTEM 0
#define GV_FENCE_DEVICE 1

/* What a CPU must do beside storing to the doorbell. */
#define GV_DOORBELL_PLAIN 0           /* nothing: memory, or a non-cached register */
#define GV_DOORBELL_WRITE_COMBINING 1 /* a register in write-combining memory (BlueFlame): fence before, flush behind */

/* States of a send queue. */
#define GV_STATE_RESET 0
#define GV_STATE_RTS 1
#define GV_STATE_ERROR 2
#define GV_STATE_CLOSED 3

/* Results: a ticket (>= 0) or one of these. gv_poll also returns a positive mlx5 syndrome. */
#define GV_OK 0
#define GV_FULL -1
#define GV_NOT_CONNECTED -2
#define GV_QP_ERROR -3
#define GV_CLOSED -4
#define GV_TIMEOUT -5
#define GV_PENDING -6
#define GV_BUSY -7

/* One data segment: registered local memory. */
typedef struct gv_segment {
  uint64_t address;
  uint32_t length; /* bytes, 0..2^30; a zero-length segment takes no room in the WQE */
  uint32_t lkey;
} gv_segment;

/* One request, as Java writes it and the encoder reads it. 96 bytes; host byte order. */
typedef struct gv_request {
  uint8_t op;
  uint8_t flags;
  uint8_t segments; /* 0..GV_MAX_SEGMENTS */
  uint8_t wqebbs;   /* size of the WQE in basic blocks, set when the request is built */
  uint32_t immediate;
  uint64_t remote_address;
  uint32_t rkey;
  uint32_t inline_length;
  gv_segment segment[GV_MAX_SEGMENTS]; /* atomics: segment[0] takes the 8 bytes fetched */
  uint64_t compare;
  uint64_t swap_or_add;
  uint64_t inline_address; /* inline WRITE: where the bytes lie (valid as long as the request is) */
} gv_request;

/*
 * A send queue: the handle that every submitter holds. Aligned to 128 bytes, grouped by who writes what, so that
 * a submitter's spin does not take the line that another one writes.
 */
typedef struct gv_sq {
  /* line 0: constants. Written at create, connect and reset, when nobody submits. */
  uint64_t ring;              /* address of WQEBB 0 */
  uint64_t cqe;               /* collapsed: the one CQE; full: 0 (the consumer advances `completed`) */
  uint64_t dbr;               /* address of the doorbell record: be32 {receive, send} */
  uint64_t doorbell;          /* address of the 64-bit doorbell register */
  uint64_t host_control;      /* address of a word in host memory: non-zero once the host has closed the queue */
  uint64_t bitmap;            /* BITMAP: depth/32 words */
  uint32_t qpn;               /* 24 bits */
  uint32_t depth;             /* WQEBBs, a power of two */
  uint32_t handover;          /* GV_HANDOVER_* */
  uint32_t fence_mode;        /* GV_FENCE_* */
  uint32_t doorbell_every;    /* requests; a power of two; 1: always */
  uint32_t signal_every;      /* slots; a power of two, <= depth/4 */
  uint64_t submit_timeout_ns; /* a submitter that waits longer than this sets the queue's ERROR */
  uint32_t doorbell_kind;     /* GV_DOORBELL_* */
  uint32_t reserved0;
  uint64_t pad0[5];

  /* line 1: the two heads, read together by whoever waits for its turn. */
  uint64_t resv_head;  /* slots handed out */
  uint64_t ready_head; /* slots whose WQEs are complete */
  uint64_t pad1[14];

  /* line 2: who rings. */
  uint64_t post_lock; /* CLASSIC: 0 free, 1 held */
  uint64_t posted;    /* producer index last written to the DBR; BITMAP: posted << 24 | announcements */
  uint64_t pad2[14];

  /* line 3: what the NIC has finished. */
  uint64_t completed; /* slots finished, a cache of the CQE's 16-bit counter widened to 64 bits */
  uint64_t pad3[15];

  /* line 4: state and the first error. */
  uint32_t state;          /* GV_STATE_* */
  uint32_t error_syndrome; /* mlx5 syndrome of the first error CQE; 0 none */
  uint64_t error_index;    /* WQE index of the first error CQE */
  uint64_t error_latch;    /* 0; 1 once somebody has the right to write the two words above; 2 once they are written */
  uint64_t pad4[13];

  /* line 5: counters for the user, written by submitters, relaxed. */
  uint64_t doorbells; /* doorbells rung */
  uint64_t full;      /* times that a submit found no room */
  uint64_t stalls;    /* spins that reached the slow path (yield, host word) */
  uint64_t scans;     /* BITMAP: scan rounds */
  uint64_t owner;     /* EXCLUSIVE, checked builds (exclusive.h): the submitter that is inside; 0 nobody */
  uint64_t pad5[11];
} gv_sq;

#endif
