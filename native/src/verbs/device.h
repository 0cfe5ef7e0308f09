// SPDX-License-Identifier: Apache-2.0
// An opened verbs device: its protection domain, and the thread that serves its queue pairs.
#ifndef GPUVERBS_SRC_VERBS_DEVICE_H
#define GPUVERBS_SRC_VERBS_DEVICE_H

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "mlx5_library.h"

namespace gpuverbs::verbs {
struct DirectDevice;
}

struct gv_verbs {
  const gpuverbs::verbs::Library* lib = nullptr;
  gpuverbs::verbs::Context* context = nullptr;
  gpuverbs::verbs::Pd* pd = nullptr;
  gpuverbs::verbs::DeviceAttr attr{};
  uint32_t port = 1;
  int gid_index = -1;
  bool ethernet = false;
  uint32_t reads = 1;

  std::mutex mutex;            // what the drain thread touches: the queue pairs and their CQs
  std::atomic<int> waiting{0}; // control calls that want the mutex
  std::vector<gv_proxy*> served;
  std::atomic<int> regions{0};
  std::atomic<bool> stop{false};
  std::thread thread;

  const gpuverbs::verbs::Mlx5Library* mlx5 = nullptr; // of a device that was opened for DEVX
  char no_devx[200] = "";                             // why it was not
  std::unique_ptr<gpuverbs::verbs::DirectDevice> direct;

  gv_verbs();
  ~gv_verbs();
};

namespace gpuverbs::verbs {

// The device's mutex for a control call: the drain thread, which would otherwise take it again at once, stands back.
class Control {
 public:
  explicit Control(gv_verbs* v) : v_(v) {
    v_->waiting.fetch_add(1);
    v_->mutex.lock();
    v_->waiting.fetch_sub(1);
  }
  ~Control() { v_->mutex.unlock(); }
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

 private:
  gv_verbs* v_;
};

// The drain thread's loop, until `stop`.
void drain(gv_verbs* v);

constexpr uint32_t kMaxReads =
    16; // outstanding reads that are asked for: both ends take the same, where devices have them

constexpr uint8_t kHops = 64; // of a global route

// Where a peer is, as verbs want it.
void address_peer(const gv_verbs* v, const gv_proxy_remote* r, AhAttr* ah);

inline uint32_t mtu_bytes(int code) { return code >= kMtu256 && code <= kMtu4096 ? 128u << code : 0; }

// The smallest code of as many bytes, at most 4096.
inline int mtu_code(uint32_t bytes) {
  int code = kMtu256;
  while (code < kMtu4096 && mtu_bytes(code) < bytes) code++;
  return code;
}

} // namespace gpuverbs::verbs

#endif
