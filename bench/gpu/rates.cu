// SPDX-License-Identifier: Apache-2.0
// Submit rates of the device API on a GPU, without a NIC: every hand-over, fence mode and placement, every WQE checked.
//
//   nvcc -std=c++17 -O3 -arch=sm_90 -I../../native/include rates.cu -o rates && ./rates [GNH [filter]]
//
// One line a case, comma-separated. Rate = WQEs / (last end - first start) of %globaltimer, in millions a second; median,
// lowest and highest of 5 runs after a warm-up. Cycles = clock64 around the calls, mean a thread and call.
#include "harness.cuh"

using namespace harness;

namespace {

#define VARIANT(name, h, m, every, by, lo, hi) \
  Variant { name, h, m, every, by, produce<h, m, by>, lo, hi }

const Variant kVariants[] = {
    VARIANT("turn_cas", GV_HANDOVER_TURN_CAS, GV_FENCE_DEVICE, 1024, By::kWarp, 1, 4096),
    VARIANT("turn_cas", GV_HANDOVER_TURN_CAS, GV_FENCE_SYSTEM, 1024, By::kWarp, 1, 4096),
    VARIANT("turn_cas_256", GV_HANDOVER_TURN_CAS, GV_FENCE_DEVICE, 256, By::kWarp, 1, 4096),
    VARIANT("turn_cas_always", GV_HANDOVER_TURN_CAS, GV_FENCE_DEVICE, 1, By::kWarp, 1, 4096),
    VARIANT("turn_cas_always", GV_HANDOVER_TURN_CAS, GV_FENCE_SYSTEM, 1, By::kWarp, 1, 4096),
    VARIANT("turn_ldst", GV_HANDOVER_TURN_LDST, GV_FENCE_DEVICE, 1024, By::kWarp, 1, 4096),
    VARIANT("turn_ldst", GV_HANDOVER_TURN_LDST, GV_FENCE_SYSTEM, 1024, By::kWarp, 1, 4096),
    VARIANT("bitmap", GV_HANDOVER_BITMAP, GV_FENCE_DEVICE, 1, By::kWarp, 1, 4096),
    VARIANT("bitmap", GV_HANDOVER_BITMAP, GV_FENCE_SYSTEM, 1, By::kWarp, 1, 4096),
    VARIANT("classic", GV_HANDOVER_CLASSIC, GV_FENCE_DEVICE, 1, By::kWarp, 1, 4096),
    VARIANT("classic", GV_HANDOVER_CLASSIC, GV_FENCE_SYSTEM, 1, By::kWarp, 1, 4096),
    VARIANT("classic_every_128", GV_HANDOVER_CLASSIC, GV_FENCE_DEVICE, 128, By::kWarp, 1, 4096),
    VARIANT("exclusive", GV_HANDOVER_EXCLUSIVE, GV_FENCE_DEVICE, 1, By::kWarp, 1, 32),
    VARIANT("exclusive", GV_HANDOVER_EXCLUSIVE, GV_FENCE_SYSTEM, 1, By::kWarp, 1, 32),
    VARIANT("exclusive_thread", GV_HANDOVER_EXCLUSIVE, GV_FENCE_DEVICE, 1, By::kThread, 1, 32),
    VARIANT("exclusive_every_128", GV_HANDOVER_EXCLUSIVE, GV_FENCE_DEVICE, 128, By::kWarp, 1, 32),
    VARIANT("turn_cas_block", GV_HANDOVER_TURN_CAS, GV_FENCE_DEVICE, 1024, By::kBlock, 32, 4096),
    VARIANT("turn_cas_block", GV_HANDOVER_TURN_CAS, GV_FENCE_SYSTEM, 1024, By::kBlock, 32, 4096),
    VARIANT("bitmap_block", GV_HANDOVER_BITMAP, GV_FENCE_DEVICE, 1, By::kBlock, 32, 4096),
    VARIANT("turn_cas_thread", GV_HANDOVER_TURN_CAS, GV_FENCE_DEVICE, 1024, By::kThread, 1, 4096),
    {"seed_always", GV_HANDOVER_CLASSIC, GV_FENCE_DEVICE, 1, By::kThread, produce_seed<GV_FENCE_DEVICE>, 1, 4096},
    {"seed_every_4", GV_HANDOVER_CLASSIC, GV_FENCE_DEVICE, 4, By::kThread, produce_seed<GV_FENCE_DEVICE>, 1, 4096},
    {"seed_always", GV_HANDOVER_CLASSIC, GV_FENCE_SYSTEM, 1, By::kThread, produce_seed<GV_FENCE_SYSTEM>, 1, 4096},
    {"seed_every_4", GV_HANDOVER_CLASSIC, GV_FENCE_SYSTEM, 4, By::kThread, produce_seed<GV_FENCE_SYSTEM>, 1, 4096},
};

} // namespace

int main(int argc, char** argv) {
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  const std::string places = argc > 1 ? argv[1] : "GNH";
  const std::string filter = argc > 2 ? argv[2] : "";
  Bench bench;
  print_machine();
  std::printf(
      "# "
      "policy,mode,placement,queues,threads,wqes,mwqe_per_s,lowest,highest,cycles_per_call,doorbells_per_wqe,lost,bad,"
      "status\n");
  for (char place : places)
    for (const Variant& v : kVariants) {
      if (!filter.empty() && std::string(v.name).find(filter) == std::string::npos) continue;
      if (place == 'H' && v.mode != GV_FENCE_SYSTEM) continue;
      for (int threads : {1, 32, 128, 1024, 4096}) {
        if (threads < v.min_threads || threads > v.max_threads || place == 'N') continue;
        bench.measure(v, place, 1, threads);
      }
      bench.measure(v, place, kMaxQueues, 32);
    }
  return 0;
}
