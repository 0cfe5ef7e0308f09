// SPDX-License-Identifier: Apache-2.0
// Completion queues of the NIC's: owner-bit ones on a ring of the caller's, and the collapsed one in a queue pair's own memory.
#include <algorithm>
#include <cerrno>
#include <new>

#include "../layout.h"
#include "direct.h"

using namespace gpuverbs;
using namespace gpuverbs::verbs;
using namespace gpuverbs::verbs::mlx5;

namespace gpuverbs::verbs {

int32_t make_cq(gv_verbs* v, const Umem& umem, uint64_t ring, uint64_t dbr, uint32_t log_size, bool collapsed,
                DevxObject** made, uint32_t* number, gv_error* error) {
  uint8_t in[kWithContext] = {}, out[kShort] = {};
  put(in, kOpcode, kCreateCq);
  put(in, create_cq::kUmemValid, 1);
  put(in, create_cq::kUmemId, umem.handle->umem_id);
  store_be64(in + create_cq::kUmemOffset, ring - umem.base);
  uint8_t* cq = in + kCqcAt;
  put(cq, cqc::kCollapsed, collapsed);
  put(cq, cqc::kIgnoreOverrun, collapsed); // nobody consumes the one CQE, so the NIC must not wait for it
  put(cq, cqc::kLogSize, log_size);
  put(cq, cqc::kUarPage, v->direct->uar->page_id);
  put(cq, cqc::kEqn, v->direct->eqn);
  put(cq, cqc::kDbrUmemValid, 1);
  put(cq, cqc::kDbrUmemId, umem.handle->umem_id);
  store_be64(cq + cqc::kDbrAddr, dbr - umem.base);
  errno = 0;
  *made = v->mlx5->ObjCreate(v->context, in, sizeof in, out, sizeof out);
  if (*made == nullptr)
    return refused(error, "a completion queue can't be made", 0, out, "close queue pairs, or take a smaller CQ");
  *number = get(out, kNumberOut);
  return 0;
}

int destroy_object(gv_verbs* v, DevxObject** object) {
  if (*object == nullptr) return 0;
  errno = 0;
  const int r = v->mlx5->ObjDestroy(*object);
  if (r != 0) return failure(r);
  *object = nullptr;
  return 0;
}

int dismantle(gv_direct_cq* cq) {
  gv_verbs* v = cq->v;
  int r = destroy_object(v, &cq->object);
  if (r == 0) r = release(v, &cq->umem);
  if (r != 0) return r;
  auto& all = v->direct->cqs;
  all.erase(std::remove(all.begin(), all.end(), cq), all.end());
  delete cq;
  return 0;
}

} // namespace gpuverbs::verbs

extern "C" int32_t gv_direct_cq_create(gv_verbs* v, uint64_t ring, uint32_t depth, gv_direct_cq** out,
                                       gv_error* error) {
  Control hold(v);
  int32_t code = 0;
  DirectDevice* d = direct_device(v, error, &code);
  if (d == nullptr) return code;
  if (depth > d->info.max_cqes)
    return fail(error, -EINVAL, 0, "CQ depth %u: the NIC takes at most %u", depth, d->info.max_cqes);
  gv_direct_cq* cq = new (std::nothrow) gv_direct_cq();
  if (cq == nullptr) return fail(error, -ENOMEM, 0, "no memory");
  cq->v = v;
  cq->serial = ++d->serial;
  d->cqs.push_back(cq);
  // gv_cq_create leaves a page behind the ring for the doorbell record.
  const uint64_t bytes = cqe_ring_bytes(depth);
  cq->dbr = reinterpret_cast<uint32_t*>(ring + bytes);
  __atomic_store_n(cq->dbr, 0u, __ATOMIC_RELEASE);
  code = register_host(v, ring, bytes + kPage, &cq->umem, error);
  if (code == 0)
    code = make_cq(v, cq->umem, ring, ring + bytes, static_cast<uint32_t>(__builtin_ctz(depth)), false, &cq->object,
                   &cq->number, error);
  if (code == 0) code = subscribe(v, cq->object, kCqErrorEvent, kEventCqErr, cq->serial, error);
  if (code != 0) {
    cq->dead = true; // what can't be taken down now is when the device is closed
    dismantle(cq);
    return code;
  }
  *out = cq;
  return 0;
}

extern "C" void gv_direct_cq_consumed(gv_direct_cq* cq, uint64_t consumed) {
  // mlx5_cq_set_ci of rdma-core: 24 bits, big-endian. The CQEs were read before.
  __atomic_store_n(cq->dbr, __builtin_bswap32(static_cast<uint32_t>(consumed) & 0xffffff), __ATOMIC_RELEASE);
}

extern "C" int32_t gv_direct_cq_destroy(gv_direct_cq* cq, gv_error* error) {
  Control hold(cq->v);
  if (cq->users != 0) return fail(error, -EBUSY, 0, "%d queue pairs use the completion queue", cq->users);
  cq->dead = true;
  if (const int why = dismantle(cq))
    return fail(error, -why, why, "the completion queue can't be destroyed: it is tried again when the NIC is closed");
  return 0;
}
