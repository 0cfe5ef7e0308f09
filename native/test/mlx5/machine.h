// SPDX-License-Identifier: Apache-2.0
// The machine that the stand-in is: its devices, every live object, switches, faults and what was refused.
#ifndef GPUVERBS_TEST_MLX5_MACHINE_H
#define GPUVERBS_TEST_MLX5_MACHINE_H

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "abi.h"
#include "fields.h"
#include "standin.h"

#define STANDIN_API extern "C" __attribute__((visibility("default")))

namespace standin {

constexpr int kMaxDevices = 2;
constexpr int kGids = 4;

struct Ctx {
  IbvContext pub{};
  int device = 0;
  bool devx = false;
  int event_write = -1;
  std::deque<IbvAsyncEvent> events;
  int unacknowledged = 0;
};

struct Pd {
  IbvPd pub{};
  uint32_t pdn = 0;
};

struct Mr {
  IbvMr pub{};
  unsigned access = 0;
  bool dmabuf = false;
};

struct Ah {
  IbvAh pub{};
  DvAv av{};
};

struct Umem {
  DvUmem pub{};
  Ctx* ctx = nullptr;
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t page = 4096;
  bool writable = false;
};

struct Uar {
  DvUar pub{};
  Ctx* ctx = nullptr;
  int kind = 0; // as MLX5_QP_UAR_KIND
};

enum class Kind { kCq, kQp };

struct Obj { // mlx5dv_devx_obj
  Kind kind = Kind::kCq;
  Ctx* ctx = nullptr;
  uint32_t number = 0;
  uint32_t uar = 0;
  uint32_t pd = 0;
  bool served = false; // by the server, which has been told READY and not yet STOP
  std::set<uint32_t> umems;
  std::vector<uint8_t> context; // cqc or qpc, as the firmware has it
  int64_t words[MLX5_QP_WORDS] = {};
};

struct Channel {
  DvEventChannel pub{};
  Ctx* ctx = nullptr;
  int write = -1;
  bool omit_data = false;
};

struct Subscription {
  Channel* channel;
  const Obj* object; // null: of the device
  uint16_t type;
  uint64_t cookie;
};

class Machine {
 public:
  static Machine& get();

  // Held in every call. Recursive: a server may ask for words.
  std::recursive_mutex lock;

  IbvDevice devices[kMaxDevices];
  std::map<const void*, std::unique_ptr<Ctx>> contexts;
  std::map<const void*, std::unique_ptr<Pd>> pds;
  std::map<const void*, std::unique_ptr<Mr>> mrs;
  std::map<const void*, std::unique_ptr<Ah>> ahs;
  std::map<const void*, std::unique_ptr<Umem>> umems;
  std::map<const void*, std::unique_ptr<Uar>> uars;
  std::map<const void*, std::unique_ptr<Obj>> objects;
  std::map<const void*, std::unique_ptr<Channel>> channels;
  std::map<const void*, std::unique_ptr<IbvCq>> verbs_cqs;
  std::map<const void*, std::unique_ptr<IbvQp>> verbs_qps;
  std::set<const void*> lists;
  std::vector<Subscription> subscriptions;
  mlx5_standin_server server = nullptr;
  int64_t abandoned = 0;

  int64_t on(const char* name) const; // a switch
  bool set(const std::string& name, int64_t value);
  // A capability, with what set() has changed.
  int64_t cap(const char* structure, const char* field) const;
  const std::map<std::string, int64_t>& caps() const { return caps_; }
  bool ethernet() const { return on("port.ethernet") != 0; }

  // Counts a call; whether a fault makes it fail, with what errno.
  bool fault(const char* symbol, int* error);
  bool arm(const std::string& symbol, int64_t nth, int error);
  int64_t calls(const std::string& symbol) const;

  // Keeps the text; the errno again, set as well.
  int refuse(int error, const char* format, ...) __attribute__((format(printf, 3, 4)));
  std::string said() const;
  int64_t refusals() const { return refusals_; }
  int64_t faults() const { return faults_; }

  // Something has changed: wakes mlx5_standin_wait.
  void changed();
  int64_t generation() const { return generation_; }
  bool wait(std::unique_lock<std::recursive_mutex>& held, int64_t seen, int64_t milliseconds);

  // Back to the start; false while something lives.
  bool reset();
  int64_t live() const;
  void drop();

  uint32_t fresh_number() { return next_number_++; }
  Obj* object(Kind kind, uint32_t number) const;
  Uar* uar(uint32_t page_id, const Ctx* ctx) const;
  Umem* umem(uint32_t id, const Ctx* ctx) const;
  Pd* pd(uint32_t pdn, const Ctx* ctx) const;
  Ctx* context(const void* pub) const;
  // Bytes that MRs and umems have in all.
  uint64_t locked() const;
  // Tells the server, if there is one; everything but READY only of what it serves.
  int serve(int event, const Obj* qp);

 private:
  Machine();
  void defaults();

  std::map<std::string, int64_t> switches_;
  std::map<std::string, int64_t> caps_;
  std::map<std::string, int64_t> calls_;
  int64_t all_calls_ = 0;
  std::string fault_symbol_;
  int64_t fault_after_ = 0; // calls until it hits; 0 none
  int fault_error_ = 0;
  std::deque<std::string> said_;
  int64_t refusals_ = 0;
  int64_t faults_ = 0;
  int64_t generation_ = 1;
  uint32_t next_number_ = 0x40;
  std::condition_variable_any change_;
  // Contexts that drop() has taken away: threads of the process under test may still look at their file descriptors.
  std::vector<std::unique_ptr<Ctx>> dropped_;
};

// Whether an address range is mapped, and writable if asked.
bool mapped(uint64_t address, uint64_t bytes, bool writable);
// Where the memory of test/fake_cuda.cpp's dma-buf begins; 0 if it is none of that driver's.
uint64_t dmabuf_memory(int fd);
// Fills GID `index` of a device; false if the entry is empty.
bool gid(int device, int index, uint8_t* raw);
void mac(int device, uint8_t* six);
// The device that has this GID or LID; -1 none.
int device_of_gid(const uint8_t* raw);
int device_of_lid(uint32_t lid);

// Begins an exported function: takes the lock, counts the call, and says whether a fault makes it fail.
class Call {
 public:
  explicit Call(const char* symbol) : hold_(Machine::get().lock), failed_(Machine::get().fault(symbol, &error_)) {}
  bool failed() const { return failed_; }
  // For functions that return null, or -1, and set errno.
  std::nullptr_t null() const;
  int minus_one() const;
  int error() const; // set as errno too

 private:
  std::lock_guard<std::recursive_mutex> hold_;
  int error_ = 0;
  bool failed_;
};

// Every symbol that can fail.
extern const char* const kSymbols[];
extern const size_t kSymbolCount;

} // namespace standin

#endif
