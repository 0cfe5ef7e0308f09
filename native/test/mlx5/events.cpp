// SPDX-License-Identifier: Apache-2.0
// Asynchronous events: the device's through libibverbs, those of DEVX objects through subscriptions.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "machine.h"

using namespace standin;

namespace standin {

namespace {

constexpr size_t kEqeData = 64;

void to_error(Obj* qp) {
  qp->words[MLX5_QP_STATE] = 6;
  Machine::get().serve(MLX5_STANDIN_FAIL, qp);
  Machine::get().changed();
}

} // namespace

} // namespace standin

STANDIN_API int ibv_get_async_event(IbvContext* context, IbvAsyncEvent* out) {
  int fd;
  {
    Call call("ibv_get_async_event");
    if (call.failed()) return call.minus_one();
    fd = context->async_fd;
  }
  char token;
  const ssize_t n = read(fd, &token, 1); // blocks unless the caller has set O_NONBLOCK
  if (n != 1) return -1;
  std::lock_guard<std::recursive_mutex> hold(Machine::get().lock);
  Ctx* ctx = Machine::get().context(context);
  *out = ctx->events.front();
  ctx->events.pop_front();
  ctx->unacknowledged++;
  return 0;
}

STANDIN_API void ibv_ack_async_event(IbvAsyncEvent*) {
  Call call("ibv_ack_async_event");
  // Which context it was is not in the event: acknowledging counts for whoever has one.
  for (const auto& each : Machine::get().contexts) {
    if (each.second->unacknowledged > 0) {
      each.second->unacknowledged--;
      return;
    }
  }
  Machine::get().refuse(EINVAL, "ibv_ack_async_event: more acknowledged than taken");
}

STANDIN_API int mlx5_standin_async(int device, int type, int port) {
  Machine& m = Machine::get();
  std::lock_guard<std::recursive_mutex> hold(m.lock);
  if (type < 8 || (type > 14 && type != 18))
    return -1; // 0..7 are of queue pairs, CQs and paths; 15..17 of SRQs and WQs
  int reached = 0;
  for (const auto& each : m.contexts) {
    if (each.second->device != device) continue;
    IbvAsyncEvent event{};
    event.element.port_num = port;
    event.event_type = type;
    each.second->events.push_back(event);
    if (write(each.second->event_write, "e", 1) == 1) reached++;
  }
  return reached;
}

STANDIN_API int mlx5_standin_event(uint32_t number, int type) {
  Machine& m = Machine::get();
  std::lock_guard<std::recursive_mutex> hold(m.lock);
  Obj* object = number == 0 ? nullptr : m.object(type == 0x04 ? Kind::kCq : Kind::kQp, number);
  if (object != nullptr && object->kind == Kind::kQp) to_error(object);
  int reached = 0;
  for (const Subscription& s : m.subscriptions) {
    if (s.type != type || s.object != object) continue;
    uint8_t record[8 + kEqeData] = {};
    memcpy(record, &s.cookie, 8);
    // struct mlx5_eqe, include/linux/mlx5/device.h: type at byte 1; the object's number ends its data.
    record[8 + 1] = static_cast<uint8_t>(type);
    if (write(s.channel->write, record, s.channel->omit_data ? 8 : sizeof record) > 0) reached++;
  }
  return reached;
}
