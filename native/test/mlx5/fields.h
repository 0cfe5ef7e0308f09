// SPDX-License-Identifier: Apache-2.0
// Reading and writing command mailboxes by the names in fields.tsv and umem.tsv, which are compiled in.
#ifndef GPUVERBS_TEST_MLX5_FIELDS_H
#define GPUVERBS_TEST_MLX5_FIELDS_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace standin {

struct Place {
  size_t offset; // bits, from the struct's beginning
  size_t bits;
};

// Where a field lies, such as ("qpc", "mtu"); ("qpc", ".") is the whole. Ends the process for a name that isn't in the table.
Place place(const char* structure, const char* field);
bool has_place(const char* structure, const char* field);
size_t bytes_of(const char* structure);

// A struct inside a mailbox.
class View {
 public:
  View(const char* structure, void* base) : structure_(structure), base_(static_cast<uint8_t*>(base)) {}
  View(const char* structure, const void* base) : View(structure, const_cast<void*>(base)) {}

  // Of at most 64 bits.
  uint64_t get(const char* field) const;
  void set(const char* field, uint64_t value) const;
  uint8_t* at(const char* field) const { return base_ + place(structure_, field).offset / 8; }
  // The struct that the field holds.
  View inside(const char* field, const char* structure) const { return View(structure, static_cast<void*>(at(field))); }

  // The name of the first field that is set though it isn't among `allowed`, names with a space between; empty if there is none.
  std::string unexpected(const char* allowed) const;

 private:
  const char* structure_;
  uint8_t* base_;
};

} // namespace standin

#endif
