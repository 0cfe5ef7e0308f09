// SPDX-License-Identifier: Apache-2.0
// Queue pairs of path DIRECT: creating, connecting, resetting, destroying, and the CPU that rings where a GPU can't.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "../cuda/gpu.h"
#include "../layout.h"
#include "direct.h"
#include "gpuverbs/order.h"

using namespace gpuverbs;
using namespace gpuverbs::verbs;
using namespace gpuverbs::verbs::mlx5;

namespace {

constexpr int kErrorTries = 3;
// MLX5_EVENT_TYPE_*: WQ_CATAS_ERROR, WQ_INVAL_REQ_ERROR, WQ_ACCESS_ERROR
constexpr struct {
  uint16_t type;
  uint32_t event;
} kEvents[] = {{0x05, kEventQpFatal}, {0x10, kEventQpReqErr}, {0x11, kEventQpAccessErr}};

gv_gpu* gpu_of(const gv_qp* queue) { return reinterpret_cast<gv_gpu*>(queue->gpu); }

bool on_gpu(const gv_qp* queue) {
  return queue->gpu != 0 && (queue->ring < queue->block || queue->ring >= queue->block + queue->block_bytes);
}

void add_reason(gv_direct_report* report, const char* text) {
  const size_t used = strlen(report->why);
  snprintf(report->why + used, sizeof report->why - used, "%s%s", used == 0 ? "" : "; ", text);
}

// The rings, CQE and DBR.
int32_t give_memory(gv_direct* d, gv_direct_report* report, gv_error* error) {
  const gv_qp* queue = d->queue;
  if (!on_gpu(queue)) return register_host(d->v, queue->block, queue->block_bytes, &d->umem, error);
  char why[200] = "";
  const uint64_t base = queue->ring, end = round_up(queue->dbr + kPage, kDevicePage);
  const int32_t code = register_gpu(d->v, gpu_of(queue), base, end - base, &d->umem, why, sizeof why, error);
  if (code == 0 && why[0] != 0) add_reason(report, why);
  return code;
}

// The page that holds the register, in the GPU's addresses: mapped once for all queue pairs that have a register there. 0 with the reason.
uint64_t map_page(gv_direct* d, uint64_t reg, gv_error* error) {
  const auto size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  gv_gpu* gpu = gpu_of(d->queue);
  const uint64_t page = reg & ~(size - 1);
  for (MappedPage& each : d->v->direct->pages) {
    if (each.gpu != gpu || each.page != page) continue;
    each.users++;
    d->gpu = gpu;
    d->page = page;
    return each.device + (reg - page);
  }
  uint64_t device = 0;
  if (cuda::map_io(gpu, page, size, &device, error) != 0) return 0;
  d->v->direct->pages.push_back(MappedPage{gpu, page, device, 1});
  d->gpu = gpu;
  d->page = page;
  return device + (reg - page);
}

void leave_page(gv_direct* d) {
  for (MappedPage& each : d->v->direct->pages)
    if (d->page != 0 && each.gpu == d->gpu && each.page == d->page) each.users--;
  d->page = 0;
}

// Who rings, and where.
int32_t choose_ringer(gv_direct* d, gv_direct_report* report, gv_error* error) {
  gv_qp* queue = d->queue;
  const auto reg = reinterpret_cast<uint64_t>(d->uar.handle->reg_addr);
  uint64_t at = reg;
  if (d->attr.ringer == GV_RINGER_CPU) {
    d->ringer = GV_RINGER_CPU;
    add_reason(report, "the CPU rings, as asked");
  } else if (queue->gpu != 0) {
    gv_error refusal{};
    const uint64_t mapped = map_page(d, reg, &refusal);
    if (mapped != 0) {
      at = mapped;
    } else {
      d->ringer = GV_RINGER_CPU;
      char text[200];
      snprintf(text, sizeof text, "the CPU rings, since the GPU can't have the UAR (%.110s): PeerMappingOverride=1",
               refusal.text);
      add_reason(report, text);
    }
  }
  if (d->ringer == GV_RINGER_CPU) {
    // The mailbox lies in host memory: whoever writes it has to be seen by the CPU.
    if (queue->sq->fence_mode == GV_FENCE_DEVICE)
      return fail(error, -EINVAL, 0,
                  "a CPU rings this queue pair's doorbell (%.120s), so fence mode DEVICE is not enough: use SYSTEM",
                  report->why);
    at = queue->doorbell;
  }
  queue->sq->doorbell = at;
  queue->sq->doorbell_kind =
      d->ringer == GV_RINGER_SUBMITTER && d->uar.kind == GV_UAR_BLUEFLAME ? GV_DOORBELL_WRITE_COMBINING : 0;
  return 0;
}

int32_t create_qp(gv_direct* d, uint32_t collapsed_cq, gv_error* error) {
  const gv_verbs* v = d->v;
  const gv_qp* queue = d->queue;
  uint8_t in[kWithContext] = {}, out[kShort] = {};
  put(in, kOpcode, kCreateQp);
  put(in, create_qp::kUmemValid, 1);
  put(in, create_qp::kUmemId, d->umem.handle->umem_id);
  // One buffer: the receive queue, then the send queue.
  store_be64(in + create_qp::kUmemOffset,
             (queue->receive_depth != 0 ? queue->receive_ring : queue->ring) - d->umem.base);
  uint8_t* q = in + kQpcAt;
  put(q, qpc::kPmState, qpc::kMigrated);
  put(q, qpc::kPd, v->direct->pdn);
  put(q, qpc::kUarPage, d->uar.handle->page_id);
  put(q, qpc::kTsFormat, v->direct->default_timestamps ? qpc::kDefaultTimestamps : 0);
  put(q, qpc::kLogSqSize, static_cast<uint32_t>(__builtin_ctz(queue->depth)));
  if (queue->receive_depth != 0) {
    put(q, qpc::kLogRqSize, static_cast<uint32_t>(__builtin_ctz(queue->receive_depth)));
    put(q, qpc::kLogRqStride, static_cast<uint32_t>(__builtin_ctz(GV_RQ_STRIDE / 16)));
  } else {
    put(q, qpc::kRqType, qpc::kRqZeroSize);
  }
  put(q, qpc::kCqnSnd, d->send_cq != nullptr ? d->send_cq->number : collapsed_cq);
  put(q, qpc::kCqnRcv, d->receive_cq != nullptr ? d->receive_cq->number : 0);
  put(q, qpc::kDbrUmemValid, 1);
  put(q, qpc::kDbrUmemId, d->umem.handle->umem_id);
  store_be64(q + qpc::kDbrAddr, queue->dbr - d->umem.base);
  errno = 0;
  d->qp = v->mlx5->ObjCreate(v->context, in, sizeof in, out, sizeof out);
  if (d->qp == nullptr)
    return refused(error, "a queue pair can't be made", 0, out, "take a smaller depth, or close queue pairs");
  d->number = get(out, kNumberOut);
  return 0;
}

int32_t make(gv_direct* d, gv_direct_report* report, gv_error* error) {
  gv_verbs* v = d->v;
  const gv_qp* queue = d->queue;
  const uint32_t deepest = std::max(queue->depth, queue->receive_depth);
  if (deepest > v->direct->info.max_depth)
    return fail(error, -EINVAL, 0, "depth %u: the NIC takes at most %u", deepest, v->direct->info.max_depth);
  if (queue->receive_depth != 0 &&
      queue->receive_ring + static_cast<uint64_t>(queue->receive_depth) * GV_RQ_STRIDE != queue->ring)
    return fail(error, -EINVAL, 0, "the receive ring must end where the send ring begins");
  if (const int32_t code = give_memory(d, report, error)) return code;
  char why[200] = "";
  if (const int32_t code = take_register(v, &d->uar, why, sizeof why, error)) return code;
  if (why[0] != 0) add_reason(report, why);
  uint32_t collapsed = 0;
  if (d->send_cq == nullptr) {
    // Its record has the line behind the CQE, which nobody else uses.
    if (const int32_t code = make_cq(v, d->umem, queue->cqe, queue->dbr + 64, 0, true, &d->cq, &collapsed, error))
      return code;
  }
  if (const int32_t code = create_qp(d, collapsed, error)) return code;
  for (const auto& each : kEvents)
    if (const int32_t code = subscribe(v, d->qp, each.type, each.event, d->serial, error)) return code;
  if (d->cq != nullptr)
    if (const int32_t code = subscribe(v, d->cq, kCqErrorEvent, kEventCqErr, d->serial, error)) return code;
  if (const int32_t code = choose_ringer(d, report, error)) return code;
  return to_init(d, error);
}

void count_users(gv_direct* d, int by) {
  if (d->send_cq != nullptr) d->send_cq->users += by;
  if (d->receive_cq != nullptr) d->receive_cq->users += by;
}

// The mailbox's word to the register, for whoever can't ring itself.
bool ring_for(gv_direct* d) {
  auto* mailbox = reinterpret_cast<uint64_t*>(d->queue->doorbell);
  if (__atomic_load_n(mailbox, __ATOMIC_RELAXED) == 0) return false;
  const uint64_t word = __atomic_exchange_n(mailbox, 0ull, __ATOMIC_ACQ_REL);
  doorbell_to_device(static_cast<uint64_t*>(d->uar.handle->reg_addr), word, d->uar.kind == GV_UAR_BLUEFLAME);
  return true;
}

} // namespace

namespace gpuverbs::verbs {

int dismantle(gv_direct* d) {
  gv_verbs* v = d->v;
  int r = destroy_object(v, &d->qp);
  if (r == 0) r = destroy_object(v, &d->cq);
  if (r != 0) return r;
  if ((r = release(v, &d->umem)) != 0) return r;
  if (!d->parked) {
    leave_page(d);
    if (d->uar.handle != nullptr) v->mlx5->FreeUar(d->uar.handle);
  }
  count_users(d, -1);
  auto& all = v->direct->queue_pairs;
  all.erase(std::remove(all.begin(), all.end(), d), all.end());
  delete d;
  return 0;
}

void unmap_pages(gv_verbs* v) {
  std::vector<MappedPage> unused;
  {
    Control hold(v);
    if (v->direct == nullptr) return;
    auto& all = v->direct->pages;
    const auto first = std::partition(all.begin(), all.end(), [](const MappedPage& p) { return p.users != 0; });
    unused.assign(first, all.end());
    all.erase(first, all.end());
  }
  for (const MappedPage& each : unused) cuda::unmap_io(each.gpu, each.page);
}

void break_down(gv_direct* d, uint32_t event) {
  if (d->dead) return;
  d->event.store(event + 1);
  int32_t ready = GV_STATE_RTS;
  if (!d->state.compare_exchange_strong(ready, GV_STATE_ERROR)) return;
  gv_qp_mark(d->queue, GV_STATE_ERROR);
  // serve_direct takes the NIC's side along, unless there is no NIC any more.
  d->error_tries = event == kEventDeviceFatal ? 0 : kErrorTries;
}

bool serve_direct(gv_direct* d) {
  if (d->dead) return false;
  const bool moved = d->ringer == GV_RINGER_CPU && d->state != GV_STATE_RESET && ring_for(d);
  // The queue went to ERROR, by a CQE or by a submitter that gave up: the NIC must flush the rest.
  int32_t ready = GV_STATE_RTS;
  if (__atomic_load_n(&d->queue->sq->state, __ATOMIC_ACQUIRE) == GV_STATE_ERROR &&
      d->state.compare_exchange_strong(ready, GV_STATE_ERROR))
    d->error_tries = kErrorTries;
  if (d->error_tries > 0)
    d->error_tries =
        plain_transition(d, k2Err, "the queue pair can't go to ERROR", nullptr) == 0 ? 0 : d->error_tries - 1;
  return moved;
}

} // namespace gpuverbs::verbs

namespace {

int32_t create(gv_verbs* v, gv_qp* queue, gv_direct_cq* send_cq, gv_direct_cq* receive_cq, const gv_direct_attr* attr,
               gv_direct** out, gv_direct_report* report, gv_error* error) {
  Control hold(v);
  int32_t code = 0;
  DirectDevice* device = direct_device(v, error, &code);
  if (device == nullptr) return code;
  gv_direct* d = new (std::nothrow) gv_direct();
  if (d == nullptr) return fail(error, -ENOMEM, 0, "no memory");
  memset(report, 0, sizeof *report);
  d->v = v;
  d->queue = queue;
  d->attr = *attr;
  d->send_cq = send_cq;
  d->receive_cq = receive_cq;
  d->serial = ++device->serial;
  d->dead = true; // until it is whole
  count_users(d, 1);
  device->queue_pairs.push_back(d);
  code = make(d, report, error);
  if (code != 0) {
    queue->sq->doorbell = queue->doorbell;
    queue->sq->doorbell_kind = 0;
    dismantle(d); // what can't be taken down now is when the device is closed
    return code;
  }
  d->dead = false;
  report->number = d->number;
  report->uar = d->uar.kind;
  report->ringer = d->ringer;
  report->umem = d->umem.kind;
  *out = d;
  return 0;
}

} // namespace

extern "C" int32_t gv_direct_create(gv_verbs* v, gv_qp* queue, gv_direct_cq* send_cq, gv_direct_cq* receive_cq,
                                    const gv_direct_attr* attr, gv_direct** out, gv_direct_report* report,
                                    gv_error* error) {
  const int32_t code = create(v, queue, send_cq, receive_cq, attr, out, report, error);
  if (code != 0) unmap_pages(v);
  return code;
}

extern "C" int32_t gv_direct_connect(gv_direct* d, const gv_proxy_remote* r, gv_error* error) {
  if (r->number == 0 || r->number > 0xffffff)
    return fail(error, -EINVAL, 0, "peer's QP number %u: take 1 to 2^24 - 1", r->number);
  uint8_t mac[6] = {};
  if (d->v->ethernet && d->state == GV_STATE_RESET)
    if (const int32_t code = resolve_mac(d->v, r, mac, error)) return code;
  Control hold(d->v);
  if (d->state != GV_STATE_RESET) return fail(error, -EISCONN, 0, "the queue pair is connected: reset it first");
  int32_t code = to_rtr(d, r, mac, error);
  if (code == 0 && (code = to_rts(d, r, error)) != 0) {
    // In RTR it would refuse the next try: back to INIT.
    if (plain_transition(d, k2Rst, "", nullptr) == 0) to_init(d, nullptr);
  }
  if (code == 0) d->state = GV_STATE_RTS;
  return code;
}

extern "C" int32_t gv_direct_reset(gv_direct* d, gv_error* error) {
  Control hold(d->v);
  if (const int32_t code = plain_transition(d, k2Rst, "the queue pair can't be reset", error)) return code;
  d->state = GV_STATE_RESET;
  d->event = 0;
  d->error_tries = 0; // of the life before
  __atomic_store_n(reinterpret_cast<uint64_t*>(d->queue->doorbell), 0ull, __ATOMIC_RELEASE);
  return to_init(d, error);
}

extern "C" int32_t gv_direct_state(gv_direct* d) { return d->state.load(); }

extern "C" int32_t gv_direct_query(gv_direct* d, gv_direct_status* out, gv_error* error) {
  Control hold(d->v);
  uint8_t in[kShort] = {}, answer[kWithContext] = {};
  put(in, kOpcode, kQueryQp);
  put(in, kNumberIn, d->number);
  errno = 0;
  if (const int r = d->v->mlx5->ObjQuery(d->qp, in, sizeof in, answer, sizeof answer))
    return refused(error, "the queue pair can't be queried", r, answer, "see dmesg");
  const uint8_t* q = answer + kQpcAt;
  memset(out, 0, sizeof *out);
  out->nic_state = get(q, qpc::kState);
  out->state = out->nic_state == qpc::kStateError ? GV_STATE_ERROR
               : out->nic_state == qpc::kStateRts ? GV_STATE_RTS
                                                  : GV_STATE_RESET;
  out->send_pi = get(q, qpc::kHwSqCounter);
  out->receive_pi = get(q, qpc::kHwRqCounter);
  out->remote = get(q, qpc::kRemoteQpn);
  out->event = d->event.load();
  return 0;
}

extern "C" int32_t gv_direct_destroy(gv_direct* d, uint32_t in_use, gv_error* error) {
  gv_verbs* v = d->v;
  int why;
  {
    Control hold(v);
    d->dead = true;
    d->parked = in_use != 0;
    why = dismantle(d);
  }
  unmap_pages(v);
  if (why != 0)
    return fail(error, -why, why, "the queue pair can't be destroyed: it is tried again when the NIC is closed");
  return 0;
}
