// SPDX-License-Identifier: Apache-2.0
// What a device can do for path DIRECT, and its asynchronous events.
#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "direct.h"

namespace gpuverbs::verbs {

using namespace mlx5;

namespace {

// A cookie is an object's serial number, never used twice, and the kind of event.
constexpr int kEventBits = 8;

int32_t query(gv_verbs* v, uint32_t type, uint8_t* out, gv_error* error) {
  uint8_t in[kShort] = {};
  put(in, kOpcode, kQueryHcaCap);
  put(in, kOpMod, type << 1 | 1);
  memset(out, 0, kCapabilitiesOut);
  errno = 0;
  if (const int r = v->mlx5->GeneralCmd(v->context, in, sizeof in, out, kCapabilitiesOut))
    return refused(error, "the firmware's capabilities can't be read", r, out, "update the NIC's firmware");
  return 0;
}

int32_t learn(gv_verbs* v, DirectDevice* d, gv_error* error) {
  std::vector<uint8_t> out(kCapabilitiesOut);
  if (const int32_t code = query(v, kGeneral, out.data(), error)) return code;
  const uint8_t* general = out.data() + kCapAt;
  const bool atomics = get(general, cap::kHasAtomics) != 0;
  d->log_reads_out = get(general, cap::kLogMaxReadsOut);
  d->log_reads_in = get(general, cap::kLogMaxReadsIn);
  d->log_max_message = get(general, cap::kLogMaxMessage);
  d->default_timestamps = get(general, cap::kSqTimestamps) != 0;
  d->info.max_depth = 1u << std::min(get(general, cap::kLogMaxQpSize), 30u);
  d->info.max_cqes = 1u << std::min(get(general, cap::kLogMaxCqSize), 30u);
  // Control, remote address and inline header come before the bytes.
  const uint32_t wqe = get(general, cap::kMaxSqWqeBytes);
  d->info.max_inline_bytes = wqe > 36 ? wqe - 36 : 0;
  if (get(general, cap::kRc) == 0)
    return fail(error, -EOPNOTSUPP, 0, "the firmware has no reliable connections: use another NIC");
  if (get(general, cap::kCqIgnoreOverrun) == 0)
    return fail(error, -EOPNOTSUPP, 0, "the firmware has no CQs that ignore overruns (cq_oi): update it, or use PROXY");
  if (get(general, cap::kCqeVersion) != 1)
    return fail(error, -EOPNOTSUPP, 0, "the firmware writes CQEs of version %u, not 1: update it, or use PROXY",
                get(general, cap::kCqeVersion));
  if (v->ethernet && get(general, cap::kHasRoce) == 0)
    return fail(error, -EOPNOTSUPP, 0, "RoCE is switched off: devlink dev param set ... enable_roce");
  if (atomics) {
    if (const int32_t code = query(v, kAtomic, out.data(), error)) return code;
    d->info.atomics = get(out.data() + kCapAt, atomic_cap::kHostOrder) == 1 ? 1 : 2;
  }
  if (v->ethernet) {
    if (const int32_t code = query(v, kRoce, out.data(), error)) return code;
    d->default_timestamps = get(out.data() + kCapAt, roce_cap::kQpTimestamps) != 0;
    d->min_udp_sport = get(out.data() + kCapAt, roce_cap::kMinUdpSport);
    d->max_udp_sport = get(out.data() + kCapAt, roce_cap::kMaxUdpSport);
  }
  return 0;
}

int32_t equip(gv_verbs* v, DirectDevice* d, gv_error* error) {
  const Mlx5Library* lib = v->mlx5;
  if (const int32_t code = learn(v, d, error)) return code;
  errno = 0;
  if (const int r = lib->QueryEqn(v->context, 0, &d->eqn))
    return refused(error, "the NIC has no event queue", r, nullptr, "see dmesg");
  DevxPd pd{};
  DevxObj objects{};
  objects.pd = DevxInOut{v->pd, &pd};
  errno = 0;
  if (const int r = lib->InitObj(&objects, kObjPd))
    return refused(error, "the protection domain has no number", r, nullptr, "update rdma-core");
  d->pdn = pd.pdn;
  Register shared;
  char why[200] = "";
  if (const int32_t code = take_register(v, &shared, why, sizeof why, error)) return code;
  d->uar = shared.handle;
  d->info.best_uar = shared.kind;
  d->info.dmabuf = lib->RegDmabufMr != nullptr;
  errno = 0;
  d->events = lib->CreateEventChannel(v->context, kOmitEventData);
  if (d->events == nullptr)
    return refused(error, "no channel for the NIC's events", 0, nullptr, "update the kernel to 5.3 or newer");
  fcntl(d->events->fd, F_SETFL, fcntl(d->events->fd, F_GETFL) | O_NONBLOCK);
  return 0;
}

void unequip(gv_verbs* v, DirectDevice* d) {
  if (d->events != nullptr) v->mlx5->DestroyEventChannel(d->events);
  if (d->uar != nullptr) v->mlx5->FreeUar(d->uar);
}

} // namespace

DirectDevice* direct_device(gv_verbs* v, gv_error* error, int32_t* code) {
  if (v->direct != nullptr) return v->direct.get();
  if (v->mlx5 == nullptr) {
    *code = fail(error, -EOPNOTSUPP, 0, "%s", v->no_devx[0] != 0 ? v->no_devx : "the device is no ConnectX");
    return nullptr;
  }
  std::unique_ptr<DirectDevice> made(new (std::nothrow) DirectDevice());
  if (made == nullptr) {
    *code = fail(error, -ENOMEM, 0, "no memory");
    return nullptr;
  }
  *code = equip(v, made.get(), error);
  if (*code != 0) {
    unequip(v, made.get());
    return nullptr;
  }
  v->direct = std::move(made);
  return v->direct.get();
}

void close_direct_device(gv_verbs* v) {
  if (v->direct == nullptr) return;
  unequip(v, v->direct.get());
  v->direct.reset();
}

// A port that went down breaks no queue pair: retries may bridge it. Who asks is told.
void note_port(gv_verbs* v) {
  if (v->direct == nullptr) return;
  PortAttr port{};
  const bool down =
      v->lib->QueryPort(v->context, static_cast<uint8_t>(v->port), &port) == 0 && port.state != kPortActive;
  for (gv_direct* d : v->direct->queue_pairs) {
    uint32_t before = down ? 0 : kEventPortErr + 1;
    d->event.compare_exchange_strong(before, down ? kEventPortErr + 1 : 0);
  }
}

void take_direct_events(gv_verbs* v) {
  if (v->direct == nullptr) return;
  pollfd ready{v->direct->events->fd, POLLIN, 0};
  uint64_t cookie = 0;
  while (poll(&ready, 1, 0) > 0 &&
         v->mlx5->GetEvent(v->direct->events, &cookie, sizeof cookie) >= static_cast<ssize_t>(sizeof cookie)) {
    const uint64_t serial = cookie >> kEventBits;
    const auto event = static_cast<uint32_t>(cookie & ((1u << kEventBits) - 1));
    for (gv_direct* d : v->direct->queue_pairs) {
      const bool of_cq = (d->send_cq != nullptr && d->send_cq->serial == serial) ||
                         (d->receive_cq != nullptr && d->receive_cq->serial == serial);
      if (d->serial == serial || of_cq) break_down(d, event);
    }
  }
}

int32_t subscribe(gv_verbs* v, DevxObject* object, uint16_t type, uint32_t event, uint64_t serial, gv_error* error) {
  errno = 0;
  if (const int r =
          v->mlx5->SubscribeEvent(v->direct->events, object, sizeof type, &type, serial << kEventBits | event))
    return refused(error, "the NIC's events can't be subscribed to", r, nullptr, "update the kernel to 5.3 or newer");
  return 0;
}

} // namespace gpuverbs::verbs

extern "C" int32_t gv_direct_available(gv_verbs* v, gv_direct_info* info, gv_error* error) {
  using namespace gpuverbs::verbs;
  Control hold(v);
  int32_t code = 0;
  const DirectDevice* d = direct_device(v, error, &code);
  if (d == nullptr) return code;
  *info = d->info;
  return 0;
}
