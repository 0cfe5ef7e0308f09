// SPDX-License-Identifier: Apache-2.0
// Path DIRECT through its C ABI on the stand-in: one whole life, then the same with each of its calls failing in turn. Every failure must
// be told with its reason, and nothing may be left when the caller has given back what it was given.
#include <cerrno>
#include <cstring>
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

TEST(every_call_fails_in_turn) {
  CHECK(mlx5_standin_reset() == 0);
  Life whole;
  whole.run();
  if (whole.code() != 0) {
    CHECK(false);
    return;
  }
  std::vector<std::pair<std::string, int64_t>> counts;
  for (const std::string& symbol : symbols()) {
    const int64_t n = mlx5_standin_get(("calls." + symbol).c_str());
    // Looked for between passes of a thread, as often as it likes.
    if (n > 0) counts.emplace_back(symbol, symbol == "ibv_get_async_event" ? 1 : n);
  }
  int swept = 0;
  std::set<std::string> tolerated;
  for (const auto& each : counts) {
    for (int64_t n = 1; n <= each.second; n++) {
      for (const int error : {EREMOTEIO, ENOMEM}) {
        const std::string where = each.first + " call " + std::to_string(n) + ", errno " + std::to_string(error);
        CHECK(mlx5_standin_reset() == 0);
        CHECK(mlx5_standin_fail(each.first.c_str(), n, error) == 0);
        Life life;
        life.run();
        swept++;
        const bool hit = mlx5_standin_get("faults") == 1;
        CHECK(hit);
        if (!hit) std::printf("  %s was not reached\n", where.c_str());
        if (life.code() == 0 && life.unwind_code() == 0) {
          tolerated.insert(each.first);
        } else if (life.code() != 0) {
          const bool told = std::strlen(life.error().text) > 20 && life.error().code == life.code() &&
                            (life.error().detail == error || life.code() == -error ||
                             std::strstr(life.error().text, ("errno " + std::to_string(error)).c_str()) != nullptr);
          CHECK(told);
          if (!told)
            std::printf("  %s: %s gave %d, detail %d: %s\n", where.c_str(), life.step().c_str(), life.code(),
                        life.error().detail, life.error().text);
        }
        expect_nothing_left(where);
      }
    }
  }
  std::printf("  %d faults; lived all the same after those of:", swept);
  for (const std::string& each : tolerated) std::printf(" %s", each.c_str());
  std::printf("\n");
  CHECK(swept > 40);
  // Another kind of UAR is taken, events are looked for again, and what only was to be given back is given back at the second try.
  const std::set<std::string> may = {"mlx5dv_devx_alloc_uar", "ibv_get_async_event", "mlx5dv_devx_get_event",
                                     "ibv_destroy_ah",        "ibv_destroy_cq",      "ibv_destroy_qp"};
  for (const std::string& each : tolerated) CHECK(may.count(each) == 1);
}

int main(int argc, char** argv) { return check::run(argc, argv); }
