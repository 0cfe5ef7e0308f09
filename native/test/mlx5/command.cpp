// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace standin {

namespace {

// cmd_status_to_err of Linux drivers/net/ethernet/mellanox/mlx5/core/cmd.c: what kernels before 5.19 returned.
int errno_of(int status) {
  switch (status) {
    case kBadSystemState:
    case kBadInputLength:
    case kBadOutputLength:
      return EIO;
    case kNoResources:
      return EAGAIN;
    default:
      return EINVAL;
  }
}

uint32_t hash(const char* text) {
  uint32_t h = 2166136261u;
  for (; *text != 0; text++) h = (h ^ static_cast<uint8_t>(*text)) * 16777619u;
  return (h & 0xffffff) | 0x5d000000; // the same for the same reason, whatever its numbers
}

} // namespace

uint32_t Command::opcode() const {
  return in_bytes_ < 8 ? 0 : static_cast<uint32_t>(in("query_hca_cap_in").get("opcode"));
}

int Command::answer(int status, uint32_t syndrome) {
  if (Machine::get().on("old_kernel") != 0) return errno = errno_of(status);
  if (out_bytes_ >= 8) {
    memset(out_, 0, out_bytes_);
    out("query_hca_cap_out").set("status", static_cast<uint64_t>(status));
    out("query_hca_cap_out").set("syndrome", syndrome);
  }
  return errno = EREMOTEIO;
}

int Command::refuse(int status, const char* format, ...) {
  char text[300];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const uint32_t syndrome = hash(format);
  Machine::get().refuse(EREMOTEIO, "%s: %s (status 0x%02x, syndrome 0x%08x)", name_, text, status, syndrome);
  return answer(status, syndrome);
}

void Command::spoil(int error) {
  if (error == EREMOTEIO) answer(kNoResources, 0x5dfa0017);
}

int Command::check(const char* name, const char* in_struct, const char* out_struct, const char* allowed) {
  name_ = name;
  if (in_bytes_ != bytes_of(in_struct))
    return refuse(kBadInputLength, "%zu bytes of input, %zu it has", in_bytes_, bytes_of(in_struct));
  if (out_bytes_ < bytes_of(out_struct))
    return refuse(kBadOutputLength, "room for %zu bytes of answer, %zu it has", out_bytes_, bytes_of(out_struct));
  memset(out_, 0, out_bytes_);
  return check_inside(in(in_struct), allowed);
}

int Command::check_inside(const View& inside, const char* allowed) {
  const std::string bad = inside.unexpected(allowed);
  if (bad.empty()) return 0;
  return bad.find("reserved") != std::string::npos
             ? refuse(kBadParam, "%s must be zero", bad.c_str())
             : refuse(kBadParam, "%s is set, which means nothing here or is not modelled", bad.c_str());
}

int check_uar(Command& c, uint32_t page) {
  if (Machine::get().uar(page, c.ctx) == nullptr)
    return c.refuse(kBadResource, "uar_page 0x%x is no UAR of this context", page);
  return 0;
}

int check_buffer(Command& c, const char* what, uint32_t id, uint64_t offset, uint64_t bytes, uint64_t log_page,
                 bool written, Obj* object, int64_t* address) {
  const Umem* u = Machine::get().umem(id, c.ctx);
  if (u == nullptr) return c.refuse(kBadResource, "%s_umem_id %u is no umem of this context", what, id);
  if (offset > u->bytes || bytes > u->bytes - offset)
    return c.refuse(kBadParam, "%s: %llu bytes at 0x%llx do not fit in the umem's %llu", what,
                    static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(offset),
                    static_cast<unsigned long long>(u->bytes));
  // A context holds the offset in the umem's page as page_offset, six bits: in 64ths of a page.
  if (offset % u->page % (u->page / 64) != 0)
    return c.refuse(
        kBadParam,
        "%s: offset 0x%llx is no multiple of a 64th of the umem's pages, which may be of %llu bytes: limit them"
        " by pgsz_bitmap or align the offset",
        what, static_cast<unsigned long long>(offset), static_cast<unsigned long long>(u->page));
  if (log_page != 0 && (4096ull << log_page) > u->page)
    return c.refuse(kBadParam, "%s: log_page_size %llu is more than the umem's page", what,
                    static_cast<unsigned long long>(log_page));
  if (written && !u->writable)
    return c.refuse(kBadResource, "%s: the device writes there, and the umem was registered without LOCAL_WRITE", what);
  object->umems.insert(id);
  *address = static_cast<int64_t>(u->address + offset);
  return 0;
}

int check_dbr(Command& c, const View& context, Obj* object, int64_t* address) {
  const auto id = static_cast<uint32_t>(context.get("dbr_umem_id"));
  const uint64_t offset = context.get("dbr_addr");
  const Umem* u = Machine::get().umem(id, c.ctx);
  if (u == nullptr) return c.refuse(kBadResource, "dbr_umem_id %u is no umem of this context", id);
  if (offset % 8 != 0)
    return c.refuse(kBadParam, "dbr_addr 0x%llx is not aligned to 8", static_cast<unsigned long long>(offset));
  if (u->bytes < 8 || offset > u->bytes - 8)
    return c.refuse(kBadParam, "dbr_addr 0x%llx lies outside the umem's %llu bytes",
                    static_cast<unsigned long long>(offset), static_cast<unsigned long long>(u->bytes));
  object->umems.insert(id);
  *address = static_cast<int64_t>(u->address + offset);
  return 0;
}

int query_caps(Command& c) {
  if (int e = c.check("QUERY_HCA_CAP", "query_hca_cap_in", "query_hca_cap_out", "opcode op_mod")) return e;
  const uint64_t modifier = c.in("query_hca_cap_in").get("op_mod"); // type << 1 | (1: current, 0: maximum)
  const uint64_t type = modifier >> 1;
  const char* structure = type == 0 ? "cmd_hca_cap" : type == 3 ? "atomic_caps" : type == 4 ? "roce_cap" : nullptr;
  if (structure == nullptr)
    return c.refuse(kBadParam, "capabilities of type %llu are not modelled", static_cast<unsigned long long>(type));
  const View caps = c.out("query_hca_cap_out").inside("capability", structure);
  const std::string prefix = std::string(structure) + ".";
  for (const auto& each : Machine::get().caps())
    if (each.first.rfind(prefix, 0) == 0)
      caps.set(each.first.substr(prefix.size()).c_str(), static_cast<uint64_t>(each.second));
  const Machine& m = Machine::get();
  if (type == 0) {
    caps.set("port_type", m.ethernet() ? 1 : 0);
    if (!m.ethernet()) caps.set("roce", 0);
    if (m.on("atomics") == 0) caps.set("atomic", 0);
  } else if (type == 3) {
    caps.set("atomic_req_8B_endianness_mode", m.on("atomics") == 1 ? 1 : 0); // MLX5_ATOMIC_REQ_MODE_HOST_ENDIANNESS
    if (m.on("atomics") == 2) caps.set("supported_atomic_req_8B_endianness_mode_1", 0);
    if (m.on("atomics") == 0) {
      caps.set("atomic_operations", 0);
      caps.set("atomic_size_qp", 0);
    }
  }
  return 0;
}

} // namespace standin
