// SPDX-License-Identifier: Apache-2.0
// Opening a verbs device and registering memory with it.
#include "device.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "direct.h"

using namespace gpuverbs;
using namespace gpuverbs::verbs;

namespace {

uint64_t big_endian(const uint8_t* bytes) {
  uint64_t value;
  memcpy(&value, bytes, sizeof value);
  return __builtin_bswap64(value);
}

// A ConnectX is opened for DEVX, which path DIRECT needs and path PROXY does not mind.
Context* open_device(gv_verbs* v, Device* device) {
  gv_error why{};
  const Mlx5Library* mlx5 = mlx5_library(&why);
  if (mlx5 == nullptr) {
    snprintf(v->no_devx, sizeof v->no_devx, "%.190s", why.text);
  } else if (mlx5->IsSupported(device)) {
    DevxContextAttr attr{kContextDevx, 0};
    errno = 0;
    Context* context = mlx5->OpenDevice(device, &attr);
    if (context != nullptr) {
      v->mlx5 = mlx5;
      return context;
    }
    snprintf(
        v->no_devx, sizeof v->no_devx,
        "no DEVX context (errno %d): it needs a kernel from 5.0 on, firmware with UCTX, and in containers privileges",
        errno);
  }
  errno = 0;
  return v->lib->OpenDevice(device);
}

Context* open_named(gv_verbs* v, const char* name, gv_error* error, int32_t* code) {
  const Library* lib = v->lib;
  int count = 0;
  errno = 0;
  Device** list = lib->GetDeviceList(&count);
  if (list == nullptr) {
    *code = fail(error, -ENODEV, errno, "the kernel has no RDMA: load ib_uverbs and the NIC's driver");
    return nullptr;
  }
  Context* context = nullptr;
  *code = fail(error, -ENODEV, 0,
               "libibverbs does not know device %.60s: install ibverbs-providers, and look for /dev/infiniband/uverbs*",
               name);
  for (int i = 0; i < count; i++) {
    if (strcmp(list[i]->name, name) != 0) continue;
    if (list[i]->transport_type == kTransportIwarp) {
      *code = fail(error, -EOPNOTSUPP, 0,
                   "%.60s is iWARP, which connects by rdma_cm only: use a RoCE or InfiniBand NIC", name);
      break;
    }
    context = open_device(v, list[i]);
    if (context == nullptr)
      *code = fail(error, -failure(-1), errno,
                   "%.60s can't be opened: check the permissions of /dev/infiniband/uverbs*", name);
    break;
  }
  lib->FreeDeviceList(list);
  return context;
}

// Whether the device makes RC queue pairs; some, EFA for one, don't.
int32_t probe_rc(gv_verbs* v, const char* name, gv_error* error) {
  const Library* lib = v->lib;
  errno = 0;
  Cq* cq = lib->CreateCq(v->context, 1, nullptr, nullptr, 0);
  if (cq == nullptr) return fail(error, -failure(-1), errno, "%.60s: no completion queue can be made", name);
  QpInitAttr init{};
  init.send_cq = init.recv_cq = cq;
  init.cap = QpCap{1, 1, 1, 1, 0};
  init.qp_type = kQptRc;
  errno = 0;
  Qp* qp = lib->CreateQp(v->pd, &init);
  const int why = errno;
  // Once more if it fails: what is left here nobody else can give back.
  if (qp != nullptr && lib->DestroyQp(qp) != 0) lib->DestroyQp(qp);
  if (lib->DestroyCq(cq) != 0) lib->DestroyCq(cq);
  if (qp != nullptr) return 0;
  return fail(error, -EOPNOTSUPP, why, "%.60s makes no reliable connections (RC queue pairs): use another NIC", name);
}

int32_t look(gv_verbs* v, const char* name, gv_verbs_info* info, gv_error* error) {
  const Library* lib = v->lib;
  errno = 0;
  if (int r = lib->QueryDevice(v->context, &v->attr))
    return fail(error, -failure(r), failure(r), "%.60s can't be queried", name);
  PortAttr port{};
  errno = 0;
  if (int r = lib->QueryPort(v->context, static_cast<uint8_t>(v->port), &port))
    return fail(error, -failure(r), failure(r),
                failure(r) == EINVAL ? "%.60s has no port %u" : "%.60s: port %u can't be queried, see dmesg", name,
                v->port);
  v->ethernet = port.link_layer == kLinkEthernet;
  const int reads =
      v->attr.max_qp_init_rd_atom < v->attr.max_qp_rd_atom ? v->attr.max_qp_init_rd_atom : v->attr.max_qp_rd_atom;
  v->reads = reads < 1 ? 1 : static_cast<uint32_t>(reads) > kMaxReads ? kMaxReads : static_cast<uint32_t>(reads);
  memset(info, 0, sizeof *info);
  memcpy(info->firmware, v->attr.fw_ver, sizeof info->firmware - 1);
  info->guid = __builtin_bswap64(v->attr.node_guid);
  info->max_message_bytes = port.max_msg_sz;
  info->port_active = port.state == kPortActive;
  info->ethernet = v->ethernet;
  info->lid = port.lid;
  info->mtu = mtu_bytes(port.active_mtu);
  info->atomics = v->attr.atomic_cap != kAtomicNone;
  info->max_work_requests = static_cast<uint32_t>(v->attr.max_qp_wr);
  info->max_segments = static_cast<uint32_t>(v->attr.max_sge);
  info->max_reads = v->reads;
  if (v->gid_index >= 0) {
    Gid gid{};
    errno = 0;
    if (int r = lib->QueryGid(v->context, static_cast<uint8_t>(v->port), v->gid_index, &gid))
      return fail(error, -EINVAL, failure(r), "%.60s port %u has no GID %d", name, v->port, v->gid_index);
    info->gid_high = big_endian(gid.raw);
    info->gid_low = big_endian(gid.raw + 8);
    if (info->gid_low == 0)
      return fail(error, -EINVAL, 0, "GID %d of %.60s port %u is empty", v->gid_index, name, v->port);
  }
  return 0;
}

// What is left over of objects whose destruction failed, queue pairs first. How many objects are in use, or a negative errno.
int sweep(gv_verbs* v) {
  if (v->direct == nullptr) return 0;
  int alive = 0;
  for (gv_direct* d : std::vector<gv_direct*>(v->direct->queue_pairs)) {
    if (!d->dead)
      alive++;
    else if (const int why = dismantle(d))
      return -why;
  }
  for (gv_direct_cq* cq : std::vector<gv_direct_cq*>(v->direct->cqs)) {
    if (!cq->dead)
      alive++;
    else if (const int why = dismantle(cq))
      return -why;
  }
  return alive;
}

} // namespace

void gpuverbs::verbs::address_peer(const gv_verbs* v, const gv_proxy_remote* r, AhAttr* ah) {
  const uint64_t high = __builtin_bswap64(r->gid_high);
  const uint64_t low = __builtin_bswap64(r->gid_low);
  memcpy(ah->grh.dgid.raw, &high, 8);
  memcpy(ah->grh.dgid.raw + 8, &low, 8);
  ah->grh.sgid_index = static_cast<uint8_t>(v->gid_index < 0 ? 0 : v->gid_index);
  ah->grh.hop_limit = kHops;
  ah->grh.traffic_class = static_cast<uint8_t>(r->traffic_class);
  ah->dlid = static_cast<uint16_t>(r->lid);
  ah->sl = static_cast<uint8_t>(r->service_level);
  // RoCE has no LIDs; InfiniBand needs a global route only between subnets.
  ah->is_global = v->ethernet || r->lid == 0 ? 1 : 0;
  ah->port_num = static_cast<uint8_t>(v->port);
}

gv_verbs::gv_verbs() = default;
gv_verbs::~gv_verbs() = default;

extern "C" int32_t gv_verbs_available(gv_error* error) { return library(error) == nullptr ? -ENODEV : 0; }

extern "C" int32_t gv_verbs_open(const char* name, uint32_t port, int32_t gid_index, gv_verbs** out,
                                 gv_verbs_info* info, gv_error* error) {
  const Library* lib = library(error);
  if (lib == nullptr) return -ENODEV;
  gv_verbs* v = new (std::nothrow) gv_verbs();
  if (v == nullptr) return fail(error, -ENOMEM, 0, "no memory");
  v->lib = lib;
  v->port = port;
  v->gid_index = gid_index;
  int32_t code = 0;
  v->context = open_named(v, name, error, &code);
  if (v->context == nullptr) {
    delete v;
    return code;
  }
  code = look(v, name, info, error);
  if (code == 0) {
    errno = 0;
    v->pd = lib->AllocPd(v->context);
    if (v->pd == nullptr) code = fail(error, -failure(-1), errno, "%.60s: no protection domain can be made", name);
  }
  if (code == 0) code = probe_rc(v, name, error);
  if (code == 0) {
    // Events are looked for between passes, never waited for.
    fcntl(v->context->async_fd, F_SETFL, fcntl(v->context->async_fd, F_GETFL) | O_NONBLOCK);
    try {
      v->thread = std::thread(drain, v);
    } catch (...) {
      code = fail(error, -EAGAIN, 0, "the thread that serves %.60s can't be started", name);
    }
  }
  if (code != 0) {
    if (v->pd != nullptr) lib->DeallocPd(v->pd);
    lib->CloseDevice(v->context);
    delete v;
    return code;
  }
  *out = v;
  return 0;
}

extern "C" int32_t gv_verbs_close(gv_verbs* v, gv_error* error) {
  {
    Control hold(v);
    const int left = sweep(v);
    if (left < 0) return fail(error, left, -left, "what is left of queue pairs can't be destroyed: close again");
    const int used = left + static_cast<int>(v->served.size());
    if (used != 0 || v->regions.load() != 0)
      return fail(error, -EBUSY, 0, "%d queue pairs or completion queues and %d memory regions are still open", used,
                  v->regions.load());
  }
  // From here on a call that failed may be made again.
  v->stop.store(true);
  if (v->thread.joinable()) v->thread.join();
  close_direct_device(v);
  errno = 0;
  int r = v->pd == nullptr ? 0 : v->lib->DeallocPd(v->pd);
  if (r == 0) {
    v->pd = nullptr;
    r = v->lib->CloseDevice(v->context);
  }
  if (r != 0) return fail(error, -failure(r), failure(r), "the device can't be closed: close again");
  delete v;
  return 0;
}

extern "C" int32_t gv_verbs_register(gv_verbs* v, uint64_t address, uint64_t length, uint32_t access,
                                     gv_verbs_region* out, gv_error* error) {
  errno = 0;
  Mr* mr = v->lib->RegMr(v->pd, reinterpret_cast<void*>(address), length, static_cast<int>(access));
  if (mr == nullptr) {
    const int why = failure(-1);
    const char* fix = why == ENOMEM || why == EPERM    ? "raise the limit of locked memory: ulimit -l unlimited"
                      : why == EFAULT || why == EINVAL ? "the device can't reach this memory: of a GPU it needs "
                                                         "nvidia-peermem; read-only memory can't be written to"
                                                       : "see dmesg";
    return fail(error, -why, why, "%llu bytes can't be registered: %s", static_cast<unsigned long long>(length), fix);
  }
  v->regions.fetch_add(1);
  *out = gv_verbs_region{reinterpret_cast<uint64_t>(mr), mr->lkey, mr->rkey};
  return 0;
}

extern "C" int32_t gv_verbs_deregister(gv_verbs* v, uint64_t handle, gv_error* error) {
  errno = 0;
  if (int r = v->lib->DeregMr(reinterpret_cast<Mr*>(handle)))
    return fail(error, -failure(r), failure(r), "memory can't be deregistered");
  v->regions.fetch_sub(1);
  return 0;
}
