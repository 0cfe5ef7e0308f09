// SPDX-License-Identifier: Apache-2.0
// Kernels as a user writes them, for the tests. Every wait has a deadline, whatever breaks.
#include <gpuverbs/device.h>

using Turn = gpuverbs::Sender<GV_HANDOVER_TURN_CAS, GV_FENCE_SYSTEM>;
using Exclusive = gpuverbs::Sender<GV_HANDOVER_EXCLUSIVE, GV_FENCE_SYSTEM>;

__device__ constexpr uint64_t kDeadline = 20000000000ull;

__device__ uint32_t thread_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Each thread: `rounds` puts of its 64 bytes, then all of them done.
extern "C" __global__ void put_rounds(gv_sq* handle, uint64_t local, uint32_t lkey, uint64_t remote, uint32_t rkey,
                                      int rounds, int64_t* status) {
  Turn qp(handle);
  const uint32_t i = thread_index();
  int64_t s = 0;
  for (int r = 0; r < rounds && s >= 0; r++) s = qp.put(remote + 64 * i, rkey, local + 64 * i, lkey, 64);
  status[i] = s < 0 ? s : qp.quiet(kDeadline);
}

// One warp, the one submitter.
extern "C" __global__ void put_exclusive(gv_sq* handle, uint64_t local, uint32_t lkey, uint64_t remote, uint32_t rkey,
                                         int rounds, int64_t* status) {
  Exclusive qp(handle);
  const uint32_t i = thread_index();
  int64_t s = 0;
  for (int r = 0; r < rounds && s >= 0; r++)
    s = qp.put_warp(gpuverbs::kFullWarp, remote + 64 * i, rkey, local + 64 * i, lkey, 64);
  status[i] = s < 0 ? s : qp.quiet(kDeadline);
}

// A block, each thread with its request.
extern "C" __global__ void put_block(gv_sq* handle, uint64_t local, uint32_t lkey, uint64_t remote, uint32_t rkey,
                                     int rounds, int64_t* status) {
  __shared__ int64_t shared;
  Turn qp(handle);
  const uint32_t i = thread_index();
  int64_t s = 0;
  for (int r = 0; r < rounds && s >= 0; r++)
    s = qp.put_block(&shared, remote + 64 * i, rkey, local + 64 * i, lkey, 64);
  status[i] = s < 0 ? s : qp.quiet(kDeadline);
}

// The policy read from the handle; one thread, so that it serves EXCLUSIVE too.
extern "C" __global__ void any_policy(gv_sq* handle, uint64_t local, uint32_t lkey, uint64_t remote, uint32_t rkey,
                                      int rounds, int64_t* status) {
  gpuverbs::QueuePair qp(handle);
  int64_t s = 0;
  for (int r = 0; r < rounds && s >= 0; r++) s = qp.put(remote, rkey, local, lkey, 64);
  status[0] = s < 0 ? s : qp.quiet(kDeadline);
}

extern "C" __global__ void values(gv_sq* handle, uint64_t remote, uint32_t rkey, int64_t* status) {
  Turn qp(handle);
  const uint32_t i = thread_index();
  const int64_t ticket = qp.put_value(remote + 8 * i, rkey, 1000 + i, GV_FLAG_SIGNALED);
  status[i] = qp.wait(ticket, kDeadline);
}

// Each thread adds one, `rounds` times; what it fetched last must be less than all adds together.
extern "C" __global__ void adds(gv_sq* handle, uint64_t local, uint32_t lkey, uint64_t remote, uint32_t rkey, int rounds,
                                int64_t* status) {
  Turn qp(handle);
  const uint32_t i = thread_index();
  int64_t s = 0;
  for (int r = 0; r < rounds && s >= 0; r++)
    s = qp.fetch_add(remote, rkey, 1, local + 8 * i, lkey, r == rounds - 1 ? GV_FLAG_SIGNALED : 0);
  s = s < 0 ? s : qp.wait(s, kDeadline);
  qp.fetch_fence();
  if (s == GV_OK && *reinterpret_cast<volatile uint64_t*>(local + 8 * i) >= uint64_t{gridDim.x} * blockDim.x * rounds) s = 99;
  status[i] = s;
}

extern "C" __global__ void get(gv_sq* handle, uint64_t local, uint32_t lkey, uint64_t remote, uint32_t rkey, int64_t* status) {
  Turn qp(handle);
  const uint32_t i = thread_index();
  int64_t s = qp.wait(qp.get(local + 8 * i, lkey, remote + 8 * i, rkey, 8, GV_FLAG_SIGNALED), kDeadline);
  qp.fetch_fence();
  if (s == GV_OK && *reinterpret_cast<volatile uint64_t*>(local + 8 * i) != 7 * i) s = 99;
  status[i] = s;
}

// Lanes of a warp name different queues.
extern "C" __global__ void different_queues(const uint64_t* handles, int count, uint64_t remote, uint32_t rkey,
                                            int64_t* status) {
  const uint32_t i = thread_index();
  Turn qp(reinterpret_cast<gv_sq*>(handles[i % count]));
  int64_t s = 0;
  for (int r = 0; r < 50 && s >= 0; r++) s = qp.put_value(remote + 8 * i, rkey, i + r);
  status[i] = s < 0 ? s : qp.quiet(kDeadline);
}

// Two blocks, a queue each: data and a signal to the other's memory, then its answer, `rounds` times.
extern "C" __global__ void ping_pong(gv_sq* left, gv_sq* right, uint64_t a, uint32_t akey, uint64_t b, uint32_t bkey,
                                     int rounds, int64_t* status) {
  const bool first = blockIdx.x == 0;
  Turn qp(first ? left : right);
  const uint64_t mine = first ? a : b, theirs = first ? b : a;
  const uint32_t my_key = first ? akey : bkey, their_key = first ? bkey : akey;
  // Memory of a side: signal at 0, inbox at 64, outbox at 128, scratch at 192.
  int64_t s = GV_OK;
  for (int r = 1; r <= rounds && s == GV_OK; r++) {
    if (!first) s = qp.wait_signal(reinterpret_cast<uint64_t*>(mine), r, kDeadline);
    if (s == GV_OK && !first && *reinterpret_cast<volatile uint64_t*>(mine + 64) != 2 * r) s = 99;
    *reinterpret_cast<volatile uint64_t*>(mine + 128) = first ? 2 * r : 2 * r + 1;
    if (s == GV_OK) {
      const int64_t t = qp.put_signal(theirs + 64, their_key, mine + 128, my_key, 8, theirs, their_key, 1, mine + 192, my_key);
      s = qp.wait(t, kDeadline);
    }
    if (s == GV_OK && first) s = qp.wait_signal(reinterpret_cast<uint64_t*>(mine), r, kDeadline);
    if (s == GV_OK && first && *reinterpret_cast<volatile uint64_t*>(mine + 64) != 2 * r + 1) s = 99;
  }
  status[blockIdx.x] = s;
}

// Puts until something goes wrong; how long after the first error anywhere a thread came out is for the host to judge.
extern "C" __global__ void put_until_error(gv_sq* handle, uint64_t local, uint32_t lkey, uint64_t remote, uint32_t rkey,
                                           int64_t* status) {
  Turn qp(handle);
  const uint32_t i = thread_index();
  const uint64_t end = gpuverbs::now_ns() + kDeadline;
  int64_t s = 0;
  while (s >= 0 && gpuverbs::now_ns() < end) {
    s = qp.put(remote + 64 * i, rkey, local + 64 * i, lkey, 64, GV_FLAG_SIGNALED);
    if (s >= 0) {
      const int64_t done = qp.wait(s, kDeadline);
      if (done != GV_OK) s = done > 0 ? -100 - done : done;
    }
  }
  status[i] = s;
}

// All thread slots of all SMs are taken; each block waits for the NIC.
extern "C" __global__ void __launch_bounds__(1024, 2)
    fill_and_wait(gv_sq* handle, uint64_t local, uint32_t lkey, uint64_t remote, uint32_t rkey, int64_t* status) {
  int64_t s = 0;
  if (threadIdx.x == 0) {
    Turn qp(handle);
    for (int r = 0; r < 20 && s == GV_OK; r++) {
      const uint64_t at = 64 * (blockIdx.x % 512);
      s = qp.wait(qp.put(remote + at, rkey, local + at, lkey, 64, GV_FLAG_SIGNALED), kDeadline);
    }
    status[blockIdx.x] = s;
  }
  __syncthreads();
}

extern "C" __global__ void wait_signal(gv_sq* handle, const uint64_t* word, int64_t* status) {
  Turn qp(handle);
  status[0] = 77; // has begun
  __threadfence_system();
  status[0] = qp.wait_signal(word, 1, kDeadline);
}

// Uses the queue but doesn't listen, until told.
extern "C" __global__ void deaf(gv_sq* handle, volatile int64_t* told, int64_t* status) {
  const uint64_t end = gpuverbs::now_ns() + kDeadline;
  status[0] = 77;
  __threadfence_system();
  while (*told == 0 && gpuverbs::now_ns() < end) gpuverbs::relaxed_load32(&handle->state);
  status[0] = gpuverbs::relaxed_load32(&handle->state);
}

// Writes what a submit behind it on the stream then sends, late.
extern "C" __global__ void produce(uint64_t local, int64_t value) {
  const uint64_t end = gpuverbs::now_ns() + 20000000ull;
  while (gpuverbs::now_ns() < end) {
  }
  *reinterpret_cast<volatile int64_t*>(local) = value;
}

extern "C" __global__ void fault(int64_t* nowhere) { *nowhere = 1; }

extern "C" __global__ void typed(int32_t i, int64_t l, float f, double d, double* out) {
  out[0] = i;
  out[1] = static_cast<double>(l);
  out[2] = f;
  out[3] = d;
}
