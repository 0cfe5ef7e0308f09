// SPDX-License-Identifier: Apache-2.0
// Queue pairs and CQs by verbs: they can be made, as path PROXY does to look whether a device can, and move nothing.
#include <cerrno>
#include <cstring>

#include "machine.h"

using namespace standin;

STANDIN_API IbvCq* ibv_create_cq(IbvContext* context, int cqe, void* cq_context, void* channel, int) {
  Call call("ibv_create_cq");
  if (call.failed()) return call.null();
  Machine& m = Machine::get();
  if (cqe < 1) {
    m.refuse(EINVAL, "ibv_create_cq: %d CQEs", cqe);
    return nullptr;
  }
  auto cq = std::make_unique<IbvCq>();
  memset(static_cast<void*>(cq.get()), 0, sizeof *cq);
  cq->context = context;
  cq->channel = channel;
  cq->cq_context = cq_context;
  cq->cqe = cqe;
  IbvCq* pub = cq.get();
  m.verbs_cqs[pub] = std::move(cq);
  return pub;
}

STANDIN_API int ibv_destroy_cq(IbvCq* cq) {
  Call call("ibv_destroy_cq");
  if (call.failed()) return call.error();
  Machine& m = Machine::get();
  for (const auto& each : m.verbs_qps)
    if (each.second->send_cq == cq || each.second->recv_cq == cq) return m.refuse(EBUSY, "ibv_destroy_cq: in use");
  return m.verbs_cqs.erase(cq) == 1 ? 0 : m.refuse(EINVAL, "ibv_destroy_cq: no such CQ");
}

STANDIN_API IbvQp* ibv_create_qp(IbvPd* pd, IbvQpInitAttr* attr) {
  Call call("ibv_create_qp");
  if (call.failed()) return call.null();
  Machine& m = Machine::get();
  auto qp = std::make_unique<IbvQp>();
  memset(static_cast<void*>(qp.get()), 0, sizeof *qp);
  qp->context = pd->context;
  qp->qp_context = attr->qp_context;
  qp->pd = pd;
  qp->send_cq = attr->send_cq;
  qp->recv_cq = attr->recv_cq;
  qp->qp_type = attr->qp_type;
  qp->qp_num = m.fresh_number();
  IbvQp* pub = qp.get();
  m.verbs_qps[pub] = std::move(qp);
  return pub;
}

STANDIN_API int ibv_modify_qp(IbvQp*, void*, int) {
  Call call("ibv_modify_qp");
  if (call.failed()) return call.error();
  return Machine::get().refuse(EOPNOTSUPP, "ibv_modify_qp: the stand-in serves no verbs queue pairs");
}

STANDIN_API int ibv_destroy_qp(IbvQp* qp) {
  Call call("ibv_destroy_qp");
  if (call.failed()) return call.error();
  Machine& m = Machine::get();
  return m.verbs_qps.erase(qp) == 1 ? 0 : m.refuse(EINVAL, "ibv_destroy_qp: no such queue pair");
}
