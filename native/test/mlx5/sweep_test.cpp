// SPDX-License-Identifier: Apache-2.0
// Path DIRECT through its C ABI on the stand-in: one whole life, then the same with each of its calls failing in turn. Every failure must
// be told with its reason, and nothing may be left when the caller has given back what it was given.
#include <cerrno>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "life.h"

namespace {

std::vector<std::string> symbols() {
  std::vector<std::string> all;
  std::string text = mlx5_standin_symbols();
  for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    all.push_back(text.substr(at, end - at));
  return all;
}

// The reason, and the errno: as detail, as code, or where several things were tried in the text.
void expect_told(const Life& life, int error, const std::string& where) {
  const bool told = std::strlen(life.error().text) > 20 && life.error().code == life.code() &&
                    (life.error().detail == error || life.code() == -error ||
                     std::strstr(life.error().text, ("errno " + std::to_string(error)).c_str()) != nullptr);
  CHECK(told);
  if (!told)
    std::printf("  %s: %s gave %d, detail %d: %s\n", where.c_str(), life.step().c_str(), life.code(),
                life.error().detail, life.error().text);
}

} // namespace

TEST(a_whole_life_of_path_direct) {
  CHECK(mlx5_standin_reset() == 0);
  Life life;
  life.run();
  CHECK(life.code() == 0);
  if (life.code() != 0) std::printf("  %s: %s; said:\n%s", life.step().c_str(), life.error().text, said().c_str());
  CHECK(life.moved() && life.unwind_code() == 0);
  CHECK(mlx5_standin_get("refusals") == 0);
  if (mlx5_standin_get("refusals") != 0) std::printf("%s", said().c_str());
  expect_nothing_left("a whole life");
}

// Sweeps lives that `prepare` has changed; returns the calls after whose failure they went on all the same.
std::set<std::string> sweep(const std::function<void(Life&)>& prepare) {
  std::set<std::string> tolerated;
  CHECK(mlx5_standin_reset() == 0);
  Life whole;
  prepare(whole);
  whole.run();
  CHECK(whole.code() == 0);
  if (whole.code() != 0) std::printf("  %s: %s; said:\n%s", whole.step().c_str(), whole.error().text, said().c_str());
  std::vector<std::pair<std::string, int64_t>> counts;
  for (const std::string& symbol : symbols()) {
    const int64_t n = mlx5_standin_get(("calls." + symbol).c_str());
    // Looked for between passes of a thread, as often as it likes.
    if (n > 0) counts.emplace_back(symbol, symbol == "ibv_get_async_event" ? 1 : n);
  }
  int swept = 0;
  for (const auto& each : counts) {
    for (int64_t n = 1; n <= each.second; n++) {
      for (const int error : {EREMOTEIO, ENOMEM}) {
        const std::string where = each.first + " call " + std::to_string(n) + ", errno " + std::to_string(error);
        CHECK(mlx5_standin_reset() == 0);
        CHECK(mlx5_standin_fail(each.first.c_str(), n, error) == 0);
        Life life;
        prepare(life);
        life.run();
        swept++;
        const bool hit = mlx5_standin_get("faults") == 1;
        CHECK(hit);
        if (!hit) std::printf("  %s was not reached\n", where.c_str());
        if (life.code() == 0 && life.unwind_code() == 0) tolerated.insert(each.first);
        if (life.code() != 0) expect_told(life, error, where);
        expect_nothing_left(where);
      }
    }
  }
  std::printf("  %d faults; lived all the same after those of:", swept);
  for (const std::string& each : tolerated) std::printf(" %s", each.c_str());
  std::printf("\n");
  CHECK(swept > 40);
  return tolerated;
}

// Another kind of UAR is taken, events are looked for again, and what only was to be given back is given back at the second try.
const std::set<std::string> kMay = {"mlx5dv_devx_alloc_uar", "ibv_get_async_event", "mlx5dv_devx_get_event",
                                    "ibv_destroy_ah",        "ibv_destroy_cq",      "ibv_destroy_qp"};

TEST(every_call_fails_in_turn) {
  for (const std::string& each : sweep([](Life&) {})) CHECK(kMay.count(each) == 1);
}

TEST(every_call_fails_in_turn_with_queues_in_gpu_memory) {
  gv_gpu* gpu = nullptr;
  gv_error error{};
  CHECK(gv_gpu_open(0, &gpu, &error) == 0);
  if (gpu == nullptr) {
    std::printf("  %s\n", error.text);
    return;
  }
  std::set<std::string> may = kMay;
  may.insert("mlx5dv_devx_umem_reg_ex"); // of a dma-buf: nvidia-peermem instead
  for (const std::string& each : sweep([&](Life& life) {
         life.gpu = gpu;
         life.placement = GV_PLACEMENT_GPU;
       }))
    CHECK(may.count(each) == 1);
  gv_gpu_close(gpu);
}

int main(int argc, char** argv) { return check::run(argc, argv); }
