// SPDX-License-Identifier: Apache-2.0
// The least that a test program needs: named cases, checks that print where they failed, one closing line.
#ifndef GPUVERBS_TEST_CHECK_H
#define GPUVERBS_TEST_CHECK_H

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace check {

struct Case {
  std::string name;
  std::function<void()> body;
};

inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

inline int& failures() {
  static int count = 0;
  return count;
}

struct Register {
  Register(const char* name, std::function<void()> body) { cases().push_back({name, std::move(body)}); }
};

// Runs every case, or those whose names hold the first argument. Exit status 0 only if at least one ran and none failed.
inline int run(int argc, char** argv) {
  int ran = 0, failed = 0;
  for (const Case& c : cases()) {
    if (argc > 1 && c.name.find(argv[1]) == std::string::npos) continue;
    const int before = failures();
    c.body();
    ran++;
    if (failures() != before) failed++;
    std::printf("%s %s\n", failures() == before ? "ok  " : "FAIL", c.name.c_str());
    std::fflush(stdout);
  }
  std::printf("%d passed, %d failed\n", ran - failed, failed);
  return ran > 0 && failed == 0 ? 0 : 1;
}

} // namespace check

#define TEST(name)                                            \
  static void test_##name();                                  \
  static check::Register register_##name(#name, test_##name); \
  static void test_##name()

#define CHECK(condition)                                                    \
  do {                                                                      \
    if (!(condition)) {                                                     \
      std::printf("  %s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      check::failures()++;                                                  \
    }                                                                       \
  } while (0)

#endif
