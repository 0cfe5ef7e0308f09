// SPDX-License-Identifier: Apache-2.0
// One command: its mailboxes, and how it is refused.
#ifndef GPUVERBS_TEST_MLX5_COMMAND_H
#define GPUVERBS_TEST_MLX5_COMMAND_H

#include "machine.h"

namespace standin {

// MLX5_CMD_OP_*
enum Opcode : uint32_t {
  kQueryHcaCap = 0x100,
  kCreateCq = 0x400,
  kQueryCq = 0x402,
  kCreateQp = 0x500,
  kRst2Init = 0x502,
  kInit2Rtr = 0x503,
  kRtr2Rts = 0x504,
  kRts2Rts = 0x505,
  k2Err = 0x507,
  k2Rst = 0x50a,
  kQueryQp = 0x50b,
  kInit2Init = 0x50e,
};

// MLX5_CMD_STAT_*
enum Status : int {
  kBadOp = 0x02,
  kBadParam = 0x03,
  kBadSystemState = 0x04,
  kBadResource = 0x05,
  kNoResources = 0x0f,
  kBadQpState = 0x10,
  kBadInputLength = 0x50,
  kBadOutputLength = 0x51,
};

enum State : int { kRst = 0, kInit = 1, kRtr = 2, kRts = 3, kError = 6 };

class Command {
 public:
  Command(Ctx* ctx, const void* in, size_t in_bytes, void* out, size_t out_bytes)
      : ctx(ctx), in_(in), in_bytes_(in_bytes), out_(out), out_bytes_(out_bytes) {}

  Ctx* const ctx;

  uint32_t opcode() const;
  View in(const char* structure) const { return View(structure, in_); }
  View out(const char* structure) const { return View(structure, out_); }

  // 0, or the errno of the refusal: lengths (exactly the struct; the answer may have more), modifier, bits that must be zero.
  int check(const char* name, const char* in_struct, const char* out_struct, const char* allowed);
  // 0, or that of a struct inside.
  int check_inside(const View& inside, const char* allowed);
  // Fills status and syndrome; the errno that the caller gets.
  int refuse(int status, const char* format, ...) __attribute__((format(printf, 3, 4)));
  // An injected fault.
  void spoil(int error);

 private:
  int answer(int status, uint32_t syndrome);

  const char* name_ = "a command";
  const void* in_;
  size_t in_bytes_;
  void* out_;
  size_t out_bytes_;
};

// Each: 0 or an errno.
int query_caps(Command& c);
int create_cq(Command& c, Obj* cq);
int query_cq(Command& c, const Obj* cq);
int create_qp(Command& c, Obj* qp);
int modify_qp(Command& c, Obj* qp);
int query_qp(Command& c, Obj* qp);
// The kernel destroys by a mailbox of its own.
int destroy(Obj* object);

// What CQs and queue pairs have in common: a UAR, and a doorbell record in a umem.
int check_uar(Command& c, uint32_t page);
int check_dbr(Command& c, const View& context, Obj* object, int64_t* address);
// A buffer in a umem, which starts where hardware can address it.
int check_buffer(Command& c, const char* what, uint32_t id, uint64_t offset, uint64_t bytes, uint64_t log_page,
                 bool written, Obj* object, int64_t* address);

} // namespace standin

#endif
