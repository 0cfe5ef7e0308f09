// SPDX-License-Identifier: Apache-2.0
// The memory of a queue pair in host memory: one mapping that holds rings, DBR, doorbell, CQE and gv_sq.
#include "cuda/queue.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "gpuverbs/order.h"
#include "layout.h"

using namespace gpuverbs;

namespace {

static_assert(sizeof(gv_sq) % kLine == 0, "lines of gv_sq must not share a cache line with its neighbour");
static_assert(sizeof(gv_request) == 96, "gv_request is an array element shared with Java");

void* map_pages(uint64_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

void clear(gv_qp* qp) {
  gv_sq* q = qp->sq;
  memset(reinterpret_cast<void*>(qp->ring), 0, static_cast<uint64_t>(qp->depth) * GV_WQEBB);
  if (qp->receive_ring != 0)
    memset(reinterpret_cast<void*>(qp->receive_ring), 0, static_cast<uint64_t>(qp->receive_depth) * GV_RQ_STRIDE);
  if (qp->cqe != 0) memset(reinterpret_cast<void*>(qp->cqe), kInvalidCqe, GV_CQE_SIZE);
  memset(reinterpret_cast<void*>(qp->dbr), 0, 8);
  memset(reinterpret_cast<void*>(qp->doorbell), 0, 8);
  memset(reinterpret_cast<void*>(q->bitmap), 0, qp->depth / 8);
  qp->receive_posted = 0;
  clear_heads(q);
}

} // namespace

extern "C" int32_t gv_qp_create(const gv_qp_attr* a, gv_qp** out, gv_error* error) {
  if (const int32_t bad = check_attributes(a, error)) return bad;
  const uint64_t ring = static_cast<uint64_t>(a->depth) * GV_WQEBB;
  const uint64_t receive = static_cast<uint64_t>(a->receive_depth) * GV_RQ_STRIDE;
  // mlx5: one buffer holds the receive queue, then at once the send queue.
  const uint64_t doorbell_at = round_up(receive + ring, kPage);
  const uint64_t sq_at = doorbell_at + kPage; // the doorbell has a page to itself, as a UAR has
  const uint64_t dbr_at = sq_at + round_up(sizeof(gv_sq), kLine);
  const uint64_t cqe_at = dbr_at + kLine;
  const uint64_t control_at = cqe_at + kLine;
  const uint64_t bitmap_at = control_at + kLine;
  const uint64_t bytes = round_up(bitmap_at + a->depth / 8, kPage);

  gv_qp* qp = new (std::nothrow) gv_qp();
  void* block = map_pages(bytes);
  if (qp == nullptr || block == nullptr) {
    const int saved = errno;
    delete qp;
    if (block != nullptr) munmap(block, bytes);
    return fail(error, -ENOMEM, saved,
                "no memory for a queue of depth %u (%llu bytes): use a smaller depth or close queues", a->depth,
                static_cast<unsigned long long>(bytes));
  }
  const uint64_t at = reinterpret_cast<uint64_t>(block);
  qp->block = at;
  qp->block_bytes = bytes;
  qp->depth = a->depth;
  qp->receive_depth = a->receive_depth;
  qp->ring = at + receive;
  qp->receive_ring = receive == 0 ? 0 : at;
  qp->doorbell = at + doorbell_at;
  qp->sq = reinterpret_cast<gv_sq*>(at + sq_at);
  qp->dbr = at + dbr_at;
  qp->cqe = a->collapsed ? at + cqe_at : 0;
  qp->host_control = at + control_at;

  gv_sq* q = qp->sq;
  q->ring = qp->ring;
  q->cqe = qp->cqe;
  q->dbr = qp->dbr;
  q->doorbell = qp->doorbell;
  q->host_control = qp->host_control;
  q->bitmap = at + bitmap_at;
  set_policy(q, a);
  clear(qp);
  q->state = GV_STATE_RESET;
  *out = qp;
  return 0;
}

extern "C" int32_t gv_qp_ready(gv_qp* qp, uint32_t qpn, gv_error* error) {
  if (qpn == 0 || qpn > 0xffffff) return fail(error, -EINVAL, 0, "QP number %u: use 1 to 2^24 - 1", qpn);
  if (__atomic_load_n(&qp->sq->state, __ATOMIC_ACQUIRE) != GV_STATE_RESET)
    return fail(error, -EISCONN, 0, "the queue is not in RESET: reset it before connecting it again");
  qp->sq->qpn = qpn;
  if (qp->gpu != 0)
    if (const int32_t code = cuda::write_device_sq(qp, GV_STATE_RTS, error)) return code;
  __atomic_store_n(&qp->sq->state, static_cast<uint32_t>(GV_STATE_RTS), __ATOMIC_RELEASE);
  return 0;
}

extern "C" int32_t gv_qp_reset(gv_qp* qp, gv_error* error) {
  if (__atomic_load_n(&qp->sq->state, __ATOMIC_ACQUIRE) == GV_STATE_CLOSED)
    return fail(error, -EBADF, 0, "the queue is closed: open another");
  if (qp->gpu != 0) {
    if (const int32_t code = cuda::clear_device_queue(qp, error)) return code;
  } else {
    clear(qp);
  }
  __atomic_store_n(&qp->sq->state, static_cast<uint32_t>(GV_STATE_RESET), __ATOMIC_RELEASE);
  return 0;
}

extern "C" void gv_qp_mark(gv_qp* qp, uint32_t state) {
  if (state == GV_STATE_CLOSED) {
    __atomic_store_n(&qp->sq->state, state, __ATOMIC_RELEASE);
    __atomic_store_n(reinterpret_cast<uint64_t*>(qp->host_control), 1ull, __ATOMIC_RELEASE);
  } else {
    swap_state(&qp->sq->state, GV_STATE_RTS, state);
  }
  if (qp->gpu != 0) cuda::mark_device_queue(qp, state);
}

extern "C" void gv_qp_destroy(gv_qp* qp) {
  if (qp == nullptr) return;
  if (qp->gpu != 0) return cuda::destroy_device_queue(qp);
  munmap(reinterpret_cast<void*>(qp->block), qp->block_bytes);
  delete qp;
}

extern "C" int32_t gv_cq_create(uint32_t depth, uint64_t* ring, gv_error* error) {
  if (!power_of_two(depth) || depth > (1u << 22))
    return fail(error, -EINVAL, 0, "CQ depth %u: use a power of two up to 2^22", depth);
  void* p = map_pages(cq_bytes(depth));
  if (p == nullptr) return fail(error, -ENOMEM, errno, "no memory for a CQ of depth %u", depth);
  memset(p, 0xff, cqe_ring_bytes(depth));
  *ring = reinterpret_cast<uint64_t>(p);
  return 0;
}

extern "C" void gv_cq_destroy(uint64_t ring, uint32_t depth) {
  if (ring != 0) munmap(reinterpret_cast<void*>(ring), cq_bytes(depth));
}
