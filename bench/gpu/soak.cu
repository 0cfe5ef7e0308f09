// SPDX-License-Identifier: Apache-2.0
// Hammers every sound policy on a GPU, every WQE checked by the drain, and shows what the unsound ones do.
//
//   nvcc -std=c++17 -O3 -arch=sm_90 -I../../native/include soak.cu -o soak && ./soak [millions of WQEs a case]
//
// One line a case: policy, mode, placement, queues, threads a queue, drain threads, WQEs, lost, bad, DBR seen going back, runs that
// ended in an error status, verdict. Exit status 0 only if every sound case lost and garbled nothing.
#include "harness.cuh"

using namespace harness;

namespace {

#define VARIANT(name, h, m, every, by) \
  Variant { name, h, m, every, by, produce<h, m, by>, 1, 4096 }

const Variant kSound[] = {
    VARIANT("classic", GV_HANDOVER_CLASSIC, GV_FENCE_DEVICE, 1, By::kWarp),
    VARIANT("classic", GV_HANDOVER_CLASSIC, GV_FENCE_SYSTEM, 1, By::kWarp),
    VARIANT("classic_every_128", GV_HANDOVER_CLASSIC, GV_FENCE_DEVICE, 128, By::kWarp),
    VARIANT("turn_cas", GV_HANDOVER_TURN_CAS, GV_FENCE_DEVICE, 256, By::kWarp),
    VARIANT("turn_cas", GV_HANDOVER_TURN_CAS, GV_FENCE_SYSTEM, 256, By::kWarp),
    VARIANT("turn_cas_thread", GV_HANDOVER_TURN_CAS, GV_FENCE_DEVICE, 256, By::kThread),
    VARIANT("turn_cas_block", GV_HANDOVER_TURN_CAS, GV_FENCE_DEVICE, 256, By::kBlock),
    VARIANT("turn_ldst", GV_HANDOVER_TURN_LDST, GV_FENCE_DEVICE, 256, By::kWarp),
    VARIANT("turn_ldst", GV_HANDOVER_TURN_LDST, GV_FENCE_SYSTEM, 256, By::kWarp),
    VARIANT("bitmap", GV_HANDOVER_BITMAP, GV_FENCE_DEVICE, 1, By::kWarp),
    VARIANT("bitmap", GV_HANDOVER_BITMAP, GV_FENCE_SYSTEM, 1, By::kWarp),
    VARIANT("exclusive", GV_HANDOVER_EXCLUSIVE, GV_FENCE_DEVICE, 1, By::kWarp),
    VARIANT("exclusive", GV_HANDOVER_EXCLUSIVE, GV_FENCE_SYSTEM, 1, By::kWarp),
};

// Each with the queue memory in which it is unsound; the placement that a checked policy refuses.
const Variant kNoLock = VARIANT("unchecked_nolock", GV_HANDOVER_UNCHECKED_NOLOCK, GV_FENCE_DEVICE, 1, By::kWarp);
// One thread a request, as the discussion's path submits: the lanes of a warp ring in any order.
const Variant kNoLockLanes[] = {
    {"unchecked_nolock_lanes", GV_HANDOVER_UNCHECKED_NOLOCK, GV_FENCE_DEVICE, 1, By::kThread,
     produce_seed<GV_FENCE_DEVICE, GV_HANDOVER_UNCHECKED_NOLOCK>, 1, 4096},
    {"unchecked_nolock_lanes", GV_HANDOVER_UNCHECKED_NOLOCK, GV_FENCE_SYSTEM, 1, By::kThread,
     produce_seed<GV_FENCE_SYSTEM, GV_HANDOVER_UNCHECKED_NOLOCK>, 1, 4096},
};
const Variant kRelaxed = VARIANT("unchecked_relaxed", GV_HANDOVER_UNCHECKED_RELAXED, GV_FENCE_DEVICE, 256, By::kWarp);
const Variant kDeviceScope[] = {
    VARIANT("turn_cas_device_scope", GV_HANDOVER_TURN_CAS, GV_FENCE_DEVICE, 256, By::kWarp),
    VARIANT("classic_device_scope", GV_HANDOVER_CLASSIC, GV_FENCE_DEVICE, 1, By::kWarp),
    VARIANT("exclusive_device_scope", GV_HANDOVER_EXCLUSIVE, GV_FENCE_DEVICE, 1, By::kWarp),
};

struct Sum {
  u64 total = 0, lost = 0, bad = 0, backwards = 0;
  int failed = 0, runs = 0;
};

Sum hammer(Bench& bench, const Variant& v, char place, int queues, int threads, int cpus, u64 wqes, double seconds) {
  const int blocks = queues == 1 ? std::max(1, threads / 128) : queues;
  const int per_block = queues == 1 ? std::min(threads, 128) : threads;
  const u64 each = static_cast<u64>(queues) * threads;
  const uint32_t calls = static_cast<uint32_t>(std::max<u64>(
      64, std::min<u64>(wqes, v.by == By::kThread && v.handover == GV_HANDOVER_UNCHECKED_NOLOCK ? 100000 : 8000000) /
              each));
  Sum s;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (s.total < wqes && std::chrono::steady_clock::now() < end) {
    const Result r = bench.once(v, place, queues, blocks, per_block, Bench::depth_of(place, queues), calls, cpus);
    s.total += r.total;
    s.lost += r.lost;
    s.bad += r.bad;
    s.backwards += r.backwards;
    s.failed += r.failed != 0;
    s.runs++;
    if (r.failed != 0 && s.failed > 3) break; // a queue that is dead each time has shown what it does
  }
  return s;
}

void print(const Variant& v, char place, int queues, int threads, int cpus, const Sum& s, const char* verdict) {
  std::printf("%s,%s,%c,%d,%d,%d,%llu,%llu,%llu,%llu,%d,%s\n", v.name, v.mode == GV_FENCE_SYSTEM ? "SYSTEM" : "DEVICE",
              place, queues, threads, cpus, s.total, s.lost, s.bad, s.backwards, s.failed, verdict);
  std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  const u64 wqes = (argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 40) * 1000000ull;
  Bench bench;
  print_machine();
  std::printf("# policy,mode,placement,queues,threads,drain_threads,wqes,lost,bad,dbr_back,failed_runs,verdict\n");
  u64 total = 0, wrong = 0;
  for (const Variant& v : kSound) {
    for (char place : {'G', 'H'}) {
      if (place == 'H' && v.mode != GV_FENCE_SYSTEM) continue;
      for (int queues : {1, kMaxQueues}) {
        const bool one_block = v.handover == GV_HANDOVER_EXCLUSIVE;
        const int threads = queues != 1 || one_block ? 32 : 1024;
        const int cpus = place == 'H' && queues > 1 ? 8 : 1;
        const Sum s = hammer(bench, v, place, queues, threads, cpus, place == 'H' ? wqes / 2 : wqes, 8);
        const u64 bad = s.lost + s.bad + s.failed;
        print(v, place, queues, threads, cpus, s, bad == 0 ? "sound" : "WRONG");
        total += s.total;
        wrong += bad;
      }
    }
  }
  std::printf("# sound policies: %llu WQEs checked, %llu wrong\n", total, wrong);
  // Unsound: the number wrong is the finding. Zero would only say that this run didn't show it.
  for (int threads : {128, 1024, 4096})
    print(kNoLock, 'G', 1, threads, 1, hammer(bench, kNoLock, 'G', 1, threads, 1, wqes, 8), "unsound");
  for (const Variant& v : kNoLockLanes)
    for (int threads : {32, 128, 1024}) {
      print(v, 'G', 1, threads, 1, hammer(bench, v, 'G', 1, threads, 1, wqes / 8, 4), "unsound");
      if (v.mode == GV_FENCE_SYSTEM)
        print(v, 'H', 1, threads, 1, hammer(bench, v, 'H', 1, threads, 1, wqes / 8, 4), "unsound");
    }
  print(kNoLockLanes[0], 'G', kMaxQueues, 32, 1, hammer(bench, kNoLockLanes[0], 'G', kMaxQueues, 32, 1, wqes, 6),
        "unsound");
  print(kRelaxed, 'G', 1, 1024, 1, hammer(bench, kRelaxed, 'G', 1, 1024, 1, wqes, 8), "unsound");
  for (const Variant& v : kDeviceScope)
    for (int cpus : {1, 8})
      print(v, 'H', kMaxQueues, 32, cpus, hammer(bench, v, 'H', kMaxQueues, 32, cpus, wqes / 4, 6), "unsound");
  return wrong == 0 ? 0 : 1;
}
