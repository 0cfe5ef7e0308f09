// SPDX-License-Identifier: Apache-2.0
// What tests call: standin.h.
#include <algorithm>
#include <cstring>

#include "machine.h"

using namespace standin;

namespace {

std::unique_lock<std::recursive_mutex> hold() { return std::unique_lock<std::recursive_mutex>(Machine::get().lock); }

int64_t count(Kind kind) {
  int64_t n = 0;
  for (const auto& each : Machine::get().objects) n += each.second->kind == kind ? 1 : 0;
  return n;
}

int64_t counter(const std::string& name) {
  const Machine& m = Machine::get();
  const auto size = [](const auto& all) { return static_cast<int64_t>(all.size()); };
  if (name == "live") return m.live();
  if (name == "live.contexts") return size(m.contexts);
  if (name == "live.pds") return size(m.pds);
  if (name == "live.mrs") return size(m.mrs);
  if (name == "live.relaxed_mrs") {
    int64_t n = 0;
    for (const auto& each : m.mrs) n += (each.second->access & kRelaxedOrdering) != 0 ? 1 : 0;
    return n;
  }
  if (name == "live.umems") return size(m.umems);
  if (name == "live.uars") return size(m.uars);
  if (name == "live.cqs") return count(Kind::kCq);
  if (name == "live.qps") return count(Kind::kQp);
  if (name == "live.ahs") return size(m.ahs);
  if (name == "live.lists") return size(m.lists);
  if (name == "live.channels") return size(m.channels);
  if (name == "live.verbs_cqs") return size(m.verbs_cqs);
  if (name == "live.verbs_qps") return size(m.verbs_qps);
  if (name == "live.events") {
    int64_t n = 0;
    for (const auto& each : m.contexts) n += each.second->unacknowledged;
    return n;
  }
  if (name == "abandoned") return m.abandoned;
  if (name == "refusals") return m.refusals();
  if (name == "faults") return m.faults();
  if (name == "calls") return m.calls("");
  if (name.rfind("calls.", 0) == 0) return m.calls(name.substr(6));
  return -1;
}

} // namespace

STANDIN_API int mlx5_standin_reset(void) {
  const auto held = hold();
  return Machine::get().reset() ? 0 : -1;
}

STANDIN_API int mlx5_standin_set(const char* name, int64_t value) {
  const auto held = hold();
  return Machine::get().set(name, value) ? 0 : -1;
}

STANDIN_API int64_t mlx5_standin_get(const char* name) {
  const auto held = hold();
  return counter(name);
}

STANDIN_API int mlx5_standin_fail(const char* symbol, int64_t nth, int error) {
  const auto held = hold();
  return Machine::get().arm(symbol, nth, error) ? 0 : -1;
}

STANDIN_API const char* mlx5_standin_symbols(void) {
  static const std::string all = [] {
    std::string lines;
    for (size_t i = 0; i < kSymbolCount; i++) lines += std::string(kSymbols[i]) + "\n";
    return lines;
  }();
  return all.c_str();
}

STANDIN_API int64_t mlx5_standin_said(char* out, int64_t bytes) {
  const auto held = hold();
  const std::string all = Machine::get().said();
  if (bytes > 0) {
    const size_t n = std::min(all.size(), static_cast<size_t>(bytes - 1));
    memcpy(out, all.data(), n);
    out[n] = 0;
  }
  return static_cast<int64_t>(all.size());
}

STANDIN_API void mlx5_standin_serve(mlx5_standin_server server) {
  const auto held = hold();
  Machine::get().server = server;
}

STANDIN_API void mlx5_standin_drop(void) {
  const auto held = hold();
  Machine::get().drop();
}

STANDIN_API int mlx5_standin_qp(uint32_t number, int64_t* words) {
  const auto held = hold();
  const Obj* qp = Machine::get().object(Kind::kQp, number);
  if (qp == nullptr) return -1;
  memcpy(words, qp->words, sizeof(int64_t) * MLX5_QP_WORDS);
  return MLX5_QP_WORDS;
}

STANDIN_API int mlx5_standin_cq(uint32_t number, int64_t* words) {
  const auto held = hold();
  const Obj* cq = Machine::get().object(Kind::kCq, number);
  if (cq == nullptr) return -1;
  memcpy(words, cq->words, sizeof(int64_t) * MLX5_CQ_WORDS);
  return MLX5_CQ_WORDS;
}

STANDIN_API int mlx5_standin_qps(uint32_t* numbers, int room) {
  const auto held = hold();
  int n = 0;
  for (const auto& each : Machine::get().objects) {
    if (each.second->kind != Kind::kQp) continue;
    if (n < room) numbers[n] = each.second->number;
    n++;
  }
  return n;
}

STANDIN_API int64_t mlx5_standin_wait(int64_t seen, int64_t milliseconds) {
  auto held = hold();
  Machine& m = Machine::get();
  m.wait(held, seen, milliseconds);
  return m.generation();
}
