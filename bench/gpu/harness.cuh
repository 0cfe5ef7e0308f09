// SPDX-License-Identifier: Apache-2.0
// Producers and drains for runs without a NIC, shared by rates.cu and soak.cu. Placements:
//
// G: ring, DBR and CQE in GPU memory, doorbell in pinned host memory, drained by one resident block that follows the DBR.
// H: all in pinned host memory, drained by CPU threads that follow the doorbell. N: GPU memory, nothing drained, the run
// stays within the ring's depth, which is checked afterwards.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "drain.cuh"
#include "gpuverbs/device.h"

using drain::u64;
using namespace gpuverbs;

#define CK(call)                                                              \
  do {                                                                        \
    const cudaError_t e_ = (call);                                            \
    if (e_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); \
      std::fflush(stdout);                                                    \
      _exit(4);                                                               \
    }                                                                         \
  } while (0)

namespace harness {

constexpr int kMaxQueues = 132;
constexpr uint32_t kMaxDepth = 16384;

struct Timing {
  u64 start, end, cycles;
  int failed;
};

enum class By { kThread, kWarp, kBlock };

template <uint32_t H, uint32_t M, By S>
__global__ void __launch_bounds__(1024, 1) produce(gv_sq* queues, int one, uint32_t calls, Timing* t) {
  __shared__ int64_t shared;
  Sender<H, M> qp(queues + (one ? 0 : blockIdx.x));
  const u64 thread = one ? static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x : threadIdx.x;
  int64_t worst = 0;
  const u64 start = now_ns();
  const long long c0 = clock64();
  for (uint32_t i = 0; i < calls; i++) {
    const uint64_t offset = (thread * calls + i) * drain::kBytes;
    const uint64_t remote = drain::kRemoteBase + offset, local = drain::kLocalBase + offset;
    int64_t ticket;
    if (S == By::kBlock)
      ticket = qp.put_block(&shared, remote, drain::kRkey, local, drain::kLkey, drain::kBytes);
    else if (S == By::kWarp)
      ticket = qp.put_warp(blockDim.x < 32 ? (1u << blockDim.x) - 1 : ~0u, remote, drain::kRkey, local, drain::kLkey,
                           drain::kBytes);
    else
      ticket = qp.put(remote, drain::kRkey, local, drain::kLkey, drain::kBytes);
    if (ticket < 0) worst = ticket;
  }
  qp.test(0); // EXCLUSIVE with a doorbell every N: rings what no border has rung
  const long long c1 = clock64();
  const u64 end = now_ns();
  if (worst < 0) t->failed = static_cast<int>(worst);
  atomicAdd(&t->cycles, static_cast<u64>(c1 - c0));
  if ((threadIdx.x & 31) == 0) {
    atomicMin(&t->start, start);
    atomicMax(&t->end, end);
  }
}

// The path as the discussion shows it, one thread a request: fence, CAS chain, lock, DBR, doorbell; every_n 1 or 4.
template <uint32_t M, uint32_t H = GV_HANDOVER_CLASSIC>
__global__ void __launch_bounds__(1024, 1) produce_seed(gv_sq* queues, int one, uint32_t calls, Timing* t) {
  Queue q = view_of(queues + (one ? 0 : blockIdx.x));
  const u64 thread = one ? static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x : threadIdx.x;
  int64_t worst = 0;
  const u64 start = now_ns();
  const long long c0 = clock64();
  for (uint32_t i = 0; i < calls; i++) {
    const uint64_t offset = (thread * calls + i) * drain::kBytes;
    const int64_t ticket = submit_lane<H, M>(q, 1, [&](uint64_t index) {
      put_remote<M>(q, index, 1, drain::kRemoteBase + offset, drain::kRkey);
      put_data<M>(q, index, 2, drain::kBytes, drain::kLkey, drain::kLocalBase + offset);
      put_control<M>(q, index, kRdmaWrite, 3, covers_signal_slot(index, 1, q.signal_every) ? kCqUpdate : 0, 0);
    });
    if (ticket < 0) worst = ticket;
  }
  const long long c1 = clock64();
  const u64 end = now_ns();
  if (worst < 0) t->failed = static_cast<int>(worst);
  atomicAdd(&t->cycles, static_cast<u64>(c1 - c0));
  if ((threadIdx.x & 31) == 0) {
    atomicMin(&t->start, start);
    atomicMax(&t->end, end);
  }
}

using Kernel = void (*)(gv_sq*, int, uint32_t, Timing*);

struct Variant {
  const char* name;
  uint32_t handover, mode, every;
  By by;
  Kernel kernel;
  int min_threads, max_threads;
};

struct Result {
  double rate, cycles, doorbells;
  u64 total, lost, bad, backwards;
  int failed;
};

class Bench {
 public:
  Bench() {
    CK(cudaSetDeviceFlags(cudaDeviceMapHost));
    CK(cudaMalloc(&g_ring_, ring_bytes()));
    CK(cudaHostAlloc(&h_ring_, ring_bytes(), cudaHostAllocMapped));
    CK(cudaMalloc(&g_words_, kWords));
    CK(cudaHostAlloc(&h_words_, kWords, cudaHostAllocMapped));
    CK(cudaMalloc(&g_bitmap_, kMaxQueues * kMaxDepth / 8));
    CK(cudaMalloc(&queues_, sizeof(gv_sq) * kMaxQueues));
    CK(cudaMalloc(&timing_, sizeof(Timing)));
    CK(cudaMalloc(&found_, sizeof(drain::Found)));
    CK(cudaHostAlloc(&flags_, 4096, cudaHostAllocMapped));
    CK(cudaStreamCreateWithFlags(&producer_, cudaStreamNonBlocking));
    CK(cudaStreamCreateWithFlags(&drainer_, cudaStreamNonBlocking));
    std::thread([this] { watchdog(); }).detach();
  }

  Result once(const Variant& v, char place, int queues, int blocks, int threads, uint32_t depth, uint32_t calls,
              int cpus = 1) {
    beat_++;
    const int submitters = blocks * threads / queues;
    const u64 expected = static_cast<u64>(submitters) * calls;
    set_up(v, place, queues, depth);
    Timing zero = {~0ull, 0, 0, 0};
    CK(cudaMemcpy(timing_, &zero, sizeof zero, cudaMemcpyHostToDevice));
    CK(cudaMemset(found_, 0, sizeof(drain::Found)));
    std::memset(const_cast<int*>(flags_), 0, 4096);
    CK(cudaDeviceSynchronize());
    std::vector<std::thread> cpu;
    std::vector<drain::Found> parts(cpus);
    std::atomic<int> stop{0}, done{0};
    drain::Found f = {0, 0, 0, 0, 0};
    if (place == 'H') {
      for (int i = 0; i < cpus; i++)
        cpu.emplace_back([&, i] {
          cpu_drain(i, cpus, queues, depth, expected, parts[i], stop);
          done++;
        });
    } else if (place == 'G') {
      if (queues == 1)
        drain::one_queue<<<1, 1024, 0, drainer_>>>(queues_, expected, flags_, flags_ + 16, found_);
      else
        drain::many_queues<<<1, 1024, 0, drainer_>>>(queues_, queues, expected, flags_, flags_ + 16, found_);
      CK(cudaGetLastError());
      while (!flags_[0]) usleep(10);
    }
    v.kernel<<<blocks, threads, 0, producer_>>>(queues_, queues == 1, calls, timing_);
    CK(cudaGetLastError());
    CK(cudaStreamSynchronize(producer_));
    if (place == 'H') {
      const double t = now();
      while (done < cpus) {
        if (now() - t > 0.2) stop = 1;
        usleep(20);
      }
      for (std::thread& c : cpu) c.join();
      for (const drain::Found& p : parts) {
        f.consumed += p.consumed;
        f.bad_control += p.bad_control;
        f.bad_data += p.bad_data;
        f.sum += p.sum;
        f.backwards += p.backwards;
      }
    } else {
      if (place == 'N') drain::whole_ring<<<queues, 1024, 0, drainer_>>>(queues_, expected, found_);
      const double t = now();
      while (cudaStreamQuery(drainer_) == cudaErrorNotReady) {
        if (now() - t > 0.2) flags_[16] = 1;
        usleep(20);
      }
      CK(cudaStreamSynchronize(drainer_));
      CK(cudaMemcpy(&f, found_, sizeof f, cudaMemcpyDeviceToHost));
    }
    Timing t;
    CK(cudaMemcpy(&t, timing_, sizeof t, cudaMemcpyDeviceToHost));
    std::vector<gv_sq> after(queues);
    CK(cudaMemcpy(after.data(), queues_, sizeof(gv_sq) * queues, cudaMemcpyDeviceToHost));
    u64 doorbells = 0;
    for (const gv_sq& q : after) doorbells += q.doorbells;
    const u64 total = expected * queues;
    Result r;
    r.rate = total / ((t.end - t.start) * 1e-3);
    r.cycles = static_cast<double>(t.cycles) / (static_cast<double>(blocks) * threads * calls);
    r.doorbells = static_cast<double>(doorbells) / total;
    r.total = total;
    r.lost = total - f.consumed;
    r.backwards = f.backwards;
    r.bad = f.bad_control + f.bad_data + f.backwards +
            (r.lost == 0 && f.sum != expected * (expected - 1) / 2 * queues ? 1 : 0);
    r.failed = t.failed;
    beat_++;
    return r;
  }

  static uint32_t depth_of(char place, int queues) {
    if (place == 'N') return 4096; // 132 such rings stay in the L2 cache, as a NIC's would
    return queues == 1 ? 8192 : 1024;
  }

  void measure(const Variant& v, char place, int queues, int threads) {
    int blocks = queues == 1 ? std::max(1, threads / 128) : queues;
    int per_block = queues == 1 ? std::min(threads, 128) : threads;
    const uint32_t depth = depth_of(place, queues);
    const uint32_t each = queues == 1 ? threads : per_block;
    uint32_t calls = place == 'N' ? depth / each
                                  : std::max<uint32_t>(1, (each == 1    ? 2048
                                                           : each <= 32 ? 8192
                                                                        : 32768) /
                                                              each);
    Result r = once(v, place, queues, blocks, per_block, depth, calls);
    if (place != 'N' && r.failed == 0 && r.lost == 0) {
      const double us = static_cast<double>(each) * calls * queues / r.rate;
      const double factor = std::min(400.0, 4000.0 / std::max(2.0, us));
      if (factor > 1.3) calls = static_cast<uint32_t>(calls * factor);
    }
    std::vector<double> rates, cycles, doorbells;
    u64 lost = r.lost, bad = r.bad;
    int failed = r.failed;
    for (int i = 0; i < 5 && failed == 0 && lost == 0; i++) {
      r = once(v, place, queues, blocks, per_block, depth, calls);
      rates.push_back(r.rate);
      cycles.push_back(r.cycles);
      doorbells.push_back(r.doorbells);
      lost += r.lost;
      bad += r.bad;
      if (r.failed) failed = r.failed;
    }
    if (rates.empty()) rates = cycles = doorbells = {0};
    std::sort(rates.begin(), rates.end());
    std::sort(cycles.begin(), cycles.end());
    std::sort(doorbells.begin(), doorbells.end());
    const size_t mid = rates.size() / 2;
    std::printf("%s,%s,%c,%d,%d,%llu,%.3f,%.3f,%.3f,%.0f,%.5f,%llu,%llu,%d\n", v.name,
                v.mode == GV_FENCE_SYSTEM ? "SYSTEM" : "DEVICE", place, queues, threads,
                static_cast<u64>(each) * calls * queues, rates[mid], rates.front(), rates.back(), cycles[mid],
                doorbells[mid], lost, bad, failed);
    std::fflush(stdout);
  }

 private:
  static constexpr size_t kWords = 1 << 17;
  static size_t ring_bytes() { return static_cast<size_t>(kMaxQueues) * kMaxDepth * 64; }
  static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  void set_up(const Variant& v, char place, int queues, uint32_t depth) {
    const bool host = place == 'H';
    uint8_t* ring = host ? h_ring_ : g_ring_;
    uint8_t* words = host ? h_words_ : g_words_;
    const size_t bytes = static_cast<size_t>(queues) * depth * 64;
    if (host) {
      std::memset(ring, 0xee, bytes);
      std::memset(words, 0, kWords);
    } else {
      CK(cudaMemset(ring, 0xee, bytes));
      CK(cudaMemset(words, 0, kWords));
    }
    std::memset(h_words_, 0, kWords);
    CK(cudaMemset(g_bitmap_, 0, kMaxQueues * kMaxDepth / 8));
    std::vector<gv_sq> q(queues);
    std::memset(static_cast<void*>(q.data()), 0, sizeof(gv_sq) * queues);
    for (int i = 0; i < queues; i++) {
      q[i].ring = reinterpret_cast<uint64_t>(ring + static_cast<size_t>(i) * depth * 64);
      q[i].cqe = reinterpret_cast<uint64_t>(words + i * 512);
      q[i].dbr = q[i].cqe + 128;
      q[i].doorbell = reinterpret_cast<uint64_t>(h_words_ + i * 512 + 256); // a NIC's register is never in GPU memory
      q[i].bitmap = reinterpret_cast<uint64_t>(g_bitmap_ + i * (kMaxDepth / 8));
      q[i].qpn = drain::kFirstQpn + i;
      q[i].depth = depth;
      q[i].handover = v.handover;
      q[i].fence_mode = v.mode;
      q[i].doorbell_every = std::min(v.every, depth / 2);
      q[i].signal_every = depth / 4;
      q[i].submit_timeout_ns = 2000000000ull;
      q[i].state = GV_STATE_RTS;
      const uint32_t invalid = 0xf1000000u;
      if (host)
        std::memcpy(reinterpret_cast<void*>(q[i].cqe + 0x3c), &invalid, 4);
      else
        CK(cudaMemcpy(reinterpret_cast<void*>(q[i].cqe + 0x3c), &invalid, 4, cudaMemcpyHostToDevice));
    }
    CK(cudaMemcpy(queues_, q.data(), sizeof(gv_sq) * queues, cudaMemcpyHostToDevice));
  }

  void cpu_drain(int first, int step, int queues, uint32_t depth, u64 expected, drain::Found& out,
                 std::atomic<int>& stop) {
    std::vector<u64> consumed(queues, 0);
    drain::Found f = {0, 0, 0, 0, 0};
    int open = (queues - first + step - 1) / step;
    while (open > 0) {
      bool progress = false;
      for (int i = first; i < queues; i += step) {
        if (consumed[i] >= expected) continue;
        uint8_t* words = h_words_ + i * 512;
        const uint64_t db = __atomic_load_n(reinterpret_cast<uint64_t*>(words + 256), __ATOMIC_ACQUIRE);
        const uint32_t pi = drain::swap32(static_cast<uint32_t>(db)) >> 8 & 0xffff;
        const uint32_t n = (pi - static_cast<uint32_t>(consumed[i])) & 0xffff;
        if (n == 0) continue;
        if (n > 0x8000) {
          f.backwards++;
          continue;
        }
        progress = true;
        const uint8_t* ring = h_ring_ + static_cast<size_t>(i) * depth * 64;
        for (uint32_t k = 0; k < n; k++) {
          const u64 at = consumed[i] + k;
          __builtin_prefetch(ring + (((at + 12) & (depth - 1)) << 6));
          uint64_t w[6];
          const auto* p = reinterpret_cast<const volatile uint64_t*>(ring + ((at & (depth - 1)) << 6));
          for (int j = 0; j < 6; j++) w[j] = p[j];
          drain::check(w, static_cast<uint32_t>(at), drain::kFirstQpn + i, f);
          if ((k & 63) == 63 || k + 1 == n)
            __atomic_store_n(reinterpret_cast<uint32_t*>(words + 0x3c),
                             static_cast<uint32_t>((at >> 8 & 0xff) | (at & 0xff) << 8), __ATOMIC_RELEASE);
        }
        consumed[i] += n;
        if (consumed[i] >= expected) open--;
      }
      if (!progress && stop) break;
    }
    for (u64 c : consumed) f.consumed += c;
    out = f;
  }

  void watchdog() {
    long last = -1;
    double since = now();
    for (;;) {
      usleep(200000);
      const long b = beat_;
      if (b != last) {
        last = b;
        since = now();
      } else if (now() - since > 30) {
        std::printf("watchdog: no progress for 30 s\n");
        std::fflush(stdout);
        _exit(3);
      }
    }
  }

  uint8_t *g_ring_, *h_ring_, *g_words_, *h_words_, *g_bitmap_;
  gv_sq* queues_;
  Timing* timing_;
  drain::Found* found_;
  volatile int* flags_;
  cudaStream_t producer_, drainer_;
  std::atomic<long> beat_{0};
};

inline void print_machine() {
  cudaDeviceProp p;
  int driver = 0;
  CK(cudaGetDeviceProperties(&p, 0));
  CK(cudaDriverGetVersion(&driver));
  std::printf("# %s, driver CUDA %d.%d, compiled with nvcc %d.%d\n", p.name, driver / 1000, driver % 1000 / 10,
              __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__);
}

} // namespace harness
