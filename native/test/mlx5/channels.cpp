// SPDX-License-Identifier: Apache-2.0
// libmlx5.so.1: event channels, the only way by which objects made by DEVX tell of faults.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "devx.h"

using namespace standin;

STANDIN_API DvEventChannel* mlx5dv_devx_create_event_channel(IbvContext* context, int flags) {
  Call call("mlx5dv_devx_create_event_channel");
  if (call.failed()) return call.null();
  Machine& m = Machine::get();
  Ctx* ctx = devx("mlx5dv_devx_create_event_channel", context);
  if (ctx == nullptr) return nullptr;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_DIRECT) != 0) return nullptr; // O_DIRECT: a read returns one record
  auto channel = std::make_unique<Channel>();
  channel->ctx = ctx;
  channel->pub.fd = ends[0];
  channel->write = ends[1];
  channel->omit_data = (flags & 1) != 0;
  DvEventChannel* pub = &channel->pub;
  m.channels[pub] = std::move(channel);
  m.changed();
  return pub;
}

STANDIN_API void mlx5dv_devx_destroy_event_channel(DvEventChannel* pub) {
  Call call("mlx5dv_devx_destroy_event_channel");
  Machine& m = Machine::get();
  const auto at = m.channels.find(pub);
  if (at == m.channels.end()) {
    m.refuse(EINVAL, "mlx5dv_devx_destroy_event_channel: no such channel");
    return;
  }
  m.subscriptions.erase(std::remove_if(m.subscriptions.begin(), m.subscriptions.end(),
                                       [&](const Subscription& s) { return s.channel == at->second.get(); }),
                        m.subscriptions.end());
  close(pub->fd);
  close(at->second->write);
  m.channels.erase(at);
  m.changed();
}

STANDIN_API int mlx5dv_devx_subscribe_devx_event(DvEventChannel* pub, Obj* object, uint16_t bytes, uint16_t* types,
                                                 uint64_t cookie) {
  Call call("mlx5dv_devx_subscribe_devx_event");
  if (call.failed()) return call.error();
  Machine& m = Machine::get();
  const auto at = m.channels.find(pub);
  if (at == m.channels.end() || bytes == 0 || bytes % 2 != 0)
    return m.refuse(EINVAL, "mlx5dv_devx_subscribe_devx_event: the channel or the list's size, in bytes, is wrong");
  if (object != nullptr && object_of("mlx5dv_devx_subscribe_devx_event", object) == nullptr) return EINVAL;
  for (size_t i = 0; i < bytes / 2; i++) {
    const uint16_t type = types[i];
    const bool affiliated = type == 0x04 || type == 0x05 || type == 0x10 || type == 0x11;
    if (affiliated != (object != nullptr))
      return m.refuse(EINVAL, "mlx5dv_devx_subscribe_devx_event: type 0x%x %s an object", type,
                      affiliated ? "needs" : "has not");
    m.subscriptions.push_back({at->second.get(), object, type, cookie});
  }
  return 0;
}

STANDIN_API ssize_t mlx5dv_devx_get_event(DvEventChannel* pub, void* out, size_t bytes) {
  {
    Call call("mlx5dv_devx_get_event");
    if (call.failed()) return call.minus_one();
  }
  return read(pub->fd, out, bytes);
}
