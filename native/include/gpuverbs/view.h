/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A submitter's view of a queue: its constants, loaded once, so that no fence makes anybody load them again from memory,
 * and what the submitter knows by itself. Made by each submitter for itself; copied freely, but an EXCLUSIVE queue has one
 * view at a time, because the view holds the next index. A view that is made when the submitter before has published goes on there.
 */
#ifndef GPUVERBS_VIEW_H
#define GPUVERBS_VIEW_H

#include "order.h"

namespace gpuverbs {

struct Queue {
  gv_sq* sq;
  uint8_t* ring;
  uint32_t* dbr; /* the send half of the doorbell record */
  uint64_t* doorbell;
#if !GV_ON_DEVICE
  uint32_t doorbell_kind; /* GV_DOORBELL_* */
#endif
  const uint8_t* cqe; /* null: a full CQ, whose consumer advances `completed` */
  uint32_t* bitmap;
  uint32_t depth;
  uint32_t unit_mask; /* 16-byte units in the ring, less one */
  uint32_t qpn_word;  /* be32(QP number << 8), as control segments and doorbells have it */
  uint32_t doorbell_every;
  uint32_t signal_every;
  uint64_t completed; /* slots known to be finished, and acquired */
  uint64_t head;      /* EXCLUSIVE: the next index */
  uint64_t rung;      /* EXCLUSIVE: the index that the last doorbell covered */
  uint64_t ready;     /* TURN_CAS: ready_head as seen beside the last reservation; ~0: not looked at */
};

GV_FN uint64_t constant64(const uint64_t* p) {
#if GV_ON_DEVICE
  uint64_t v;
  asm("ld.global.nc.b64 %0, [%1];" : "=l"(v) : "l"(p));
  return v;
#else
  return *p;
#endif
}

GV_FN uint32_t constant32(const uint32_t* p) {
#if GV_ON_DEVICE
  uint32_t v;
  asm("ld.global.nc.b32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
#else
  return *p;
#endif
}

/* On the device the constants go through the read-only cache: they don't change while a kernel runs. */
GV_FN Queue view_of(gv_sq* q) {
  Queue v;
  v.sq = q;
  v.ring = reinterpret_cast<uint8_t*>(constant64(&q->ring));
  v.dbr = reinterpret_cast<uint32_t*>(constant64(&q->dbr)) + 1;
  v.doorbell = reinterpret_cast<uint64_t*>(constant64(&q->doorbell));
#if !GV_ON_DEVICE
  v.doorbell_kind = q->doorbell_kind;
#endif
  v.cqe = reinterpret_cast<const uint8_t*>(constant64(&q->cqe));
  v.bitmap = reinterpret_cast<uint32_t*>(constant64(&q->bitmap));
  v.depth = constant32(&q->depth);
  v.unit_mask = v.depth * (GV_WQEBB / 16) - 1;
  v.qpn_word = be32(constant32(&q->qpn) << 8);
  v.doorbell_every = constant32(&q->doorbell_every);
  v.signal_every = constant32(&q->signal_every);
  v.completed = 0;
  v.head = relaxed_load64(&q->resv_head);
  v.rung = v.head;
  v.ready = ~0ull;
  return v;
}

} // namespace gpuverbs

#endif
