// SPDX-License-Identifier: Apache-2.0
// Path DIRECT: queues that an mlx5 NIC reads by itself. The firmware makes them by command (DEVX); after that nobody is on the
// data path but the submitters and the NIC.
#ifndef GPUVERBS_SRC_VERBS_DIRECT_H
#define GPUVERBS_SRC_VERBS_DIRECT_H

#include "device.h"
#include "mlx5.h"

namespace gpuverbs::verbs {

// A page with doorbell registers, mapped into a GPU. Several queue pairs have registers in one.
struct MappedPage {
  gv_gpu* gpu;
  uint64_t page;
  uint64_t device;
  int users;
};

// What a device's queue pairs share. Made at the first use, under the device's mutex.
struct DirectDevice {
  gv_direct_info info{};
  uint32_t eqn = 0;
  uint32_t pdn = 0;
  uint32_t log_reads_out = 0, log_reads_in = 0, log_max_message = 0;
  uint32_t min_udp_sport = 0, max_udp_sport = 0; // RoCE v2; 0: not known
  DevxUar* uar = nullptr;                        // that CQs name; nobody rings it
  DevxEventChannel* events = nullptr;
  std::vector<gv_direct*> queue_pairs; // with those that are left over of a destruction that failed: `dead`
  std::vector<gv_direct_cq*> cqs;
  std::vector<MappedPage> pages;
  uint64_t serial = 0;             // of the last object that has events
  bool default_timestamps = false; // the firmware has no free-running ones
};

// Memory that the NIC reaches, and a register that submitters ring.
struct Umem {
  DevxUmem* handle = nullptr;
  uint64_t base = 0;
  uint32_t kind = GV_UMEM_HOST;
};

struct Register {
  DevxUar* handle = nullptr;
  uint32_t kind = GV_UAR_DEDICATED;
};

} // namespace gpuverbs::verbs

struct gv_direct_cq {
  gv_verbs* v;
  gpuverbs::verbs::Umem umem;
  gpuverbs::verbs::DevxObject* object = nullptr;
  uint32_t number = 0;
  uint64_t serial = 0;     // for its events
  uint32_t* dbr = nullptr; // be32 consumer index
  int users = 0;
  bool dead = false;
};

// All but the constants under the device's mutex.
struct gv_direct {
  gv_verbs* v;
  gv_qp* queue;
  gv_direct_attr attr{};
  gpuverbs::verbs::Umem umem;
  gpuverbs::verbs::Register uar;
  gv_gpu* gpu = nullptr; // whose kernels ring, if they do
  uint64_t page = 0;     // that is mapped for them
  uint32_t ringer = GV_RINGER_SUBMITTER;
  gpuverbs::verbs::DevxObject* cq = nullptr; // the collapsed one
  gpuverbs::verbs::DevxObject* qp = nullptr;
  gv_direct_cq* send_cq = nullptr;
  gv_direct_cq* receive_cq = nullptr;
  uint32_t number = 0;
  uint64_t serial = 0;
  int error_tries = 0; // to take the NIC's queue pair to ERROR
  bool dead = false;
  bool parked = false; // kernels may still ring: their register stays
  std::atomic<int32_t> state{GV_STATE_RESET};
  std::atomic<uint32_t> event{0}; // gv_direct_status.event
};

namespace gpuverbs::verbs {

// direct_device.cpp. nullptr, with the reason in `error` and its code in *code, where the device can't do it.
DirectDevice* direct_device(gv_verbs* v, gv_error* error, int32_t* code);
void close_direct_device(gv_verbs* v);
// The port went up or down; by the device's thread.
void note_port(gv_verbs* v);
// Asynchronous events of DEVX objects; by the device's thread.
void take_direct_events(gv_verbs* v);
// Has events of an object told: `type` as MLX5_EVENT_TYPE_*, `event` as in ibv_event_type, `serial` of its queue pair or CQ.
int32_t subscribe(gv_verbs* v, DevxObject* object, uint16_t type, uint32_t event, uint64_t serial, gv_error* error);

// direct_memory.cpp
int32_t register_host(gv_verbs* v, uint64_t base, uint64_t bytes, Umem* out, gv_error* error);
// Memory of a GPU: by dma-buf, else through nvidia-peermem; `why` gets the reason for the latter.
int32_t register_gpu(gv_verbs* v, gv_gpu* gpu, uint64_t base, uint64_t bytes, Umem* out, char* why, size_t room,
                     gv_error* error);
int release(gv_verbs* v, Umem* umem); // 0 or an errno
// The best register that the device gives; `why` gets the reasons against better ones.
int32_t take_register(gv_verbs* v, Register* out, char* why, size_t room, gv_error* error);

// direct_cq.cpp
int32_t make_cq(gv_verbs* v, const Umem& umem, uint64_t ring, uint64_t dbr, uint32_t log_size, bool collapsed,
                DevxObject** out, uint32_t* number, gv_error* error);
int destroy_object(gv_verbs* v, DevxObject** object); // 0 or an errno
int dismantle(gv_direct_cq* cq);                      // as for queue pairs
constexpr uint16_t kCqErrorEvent = 0x04;              // MLX5_EVENT_TYPE_CQ_ERROR

// direct_path.cpp: transitions.
int32_t to_init(gv_direct* d, gv_error* error);
// The MAC that leads to the peer, as the kernel resolves it for an address handle, which may take seconds: without the mutex. RoCE.
int32_t resolve_mac(gv_verbs* v, const gv_proxy_remote* r, uint8_t* mac, gv_error* error);
int32_t to_rtr(gv_direct* d, const gv_proxy_remote* r, const uint8_t* mac, gv_error* error);
int32_t to_rts(gv_direct* d, const gv_proxy_remote* r, gv_error* error);
// 2ERR_QP or 2RST_QP.
int32_t plain_transition(gv_direct* d, uint32_t opcode, const char* what, gv_error* error);

// direct_qp.cpp: by the device's thread, under its mutex. Whether anything moved.
bool serve_direct(gv_direct* d);
int dismantle(gv_direct* d); // 0, and d is gone; or the errno of what failed, and it may be tried again
// Takes pages that nobody uses any more out of the GPUs: without the mutex, since CUDA may wait for kernels.
void unmap_pages(gv_verbs* v);
// To ERROR, because of an asynchronous event.
void break_down(gv_direct* d, uint32_t event);

} // namespace gpuverbs::verbs

#endif
