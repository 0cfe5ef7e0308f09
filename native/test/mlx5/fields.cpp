// SPDX-License-Identifier: Apache-2.0
#include "fields.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <vector>

namespace standin {

namespace {

const char* const kTables =
#include "fields.inc" // made from the two tables by the build
    ;

struct Row {
  std::string name;
  Place place;
};

// By struct, in the tables' order: what umem.tsv has comes behind the reserved bits that it lies in.
struct Fields {
  std::map<std::string, std::vector<Row>> structs;

  Fields() {
    std::istringstream in(kTables);
    std::string structure, name;
    size_t offset, bits;
    while (in >> structure >> name >> offset >> bits) structs[structure].push_back({name, {offset, bits}});
  }
};

const Fields& fields() {
  static const Fields all;
  return all;
}

const Place* find(const char* structure, const char* field) {
  const auto at = fields().structs.find(structure);
  if (at == fields().structs.end()) return nullptr;
  for (const Row& row : at->second)
    if (row.name == field) return &row.place;
  return nullptr;
}

bool bit(const uint8_t* base, size_t i) { return (base[i / 8] >> (7 - i % 8) & 1) != 0; }

} // namespace

bool has_place(const char* structure, const char* field) { return find(structure, field) != nullptr; }

Place place(const char* structure, const char* field) {
  const Place* found = find(structure, field);
  if (found == nullptr) {
    std::fprintf(stderr, "mlx5 stand-in: no %s.%s in fields.tsv\n", structure, field);
    std::abort();
  }
  return *found;
}

size_t bytes_of(const char* structure) { return place(structure, ".").bits / 8; }

uint64_t View::get(const char* field) const {
  const Place p = place(structure_, field);
  uint64_t value = 0;
  for (size_t i = 0; i < p.bits; i++) value = value << 1 | (bit(base_, p.offset + i) ? 1 : 0);
  return value;
}

void View::set(const char* field, uint64_t value) const {
  const Place p = place(structure_, field);
  for (size_t i = 0; i < p.bits; i++) {
    const size_t at = p.offset + p.bits - 1 - i;
    const auto mask = static_cast<uint8_t>(1u << (7 - at % 8));
    base_[at / 8] = static_cast<uint8_t>((base_[at / 8] & ~mask) | ((value >> i & 1) != 0 ? mask : 0));
  }
}

std::string View::unexpected(const char* allowed) const {
  std::vector<bool> covered(place(structure_, ".").bits);
  std::istringstream names(allowed);
  for (std::string name; names >> name;) {
    const Place p = place(structure_, name.c_str());
    for (size_t i = 0; i < p.bits; i++) covered[p.offset + i] = true;
  }
  for (size_t i = 0; i < covered.size(); i++) {
    if (covered[i] || !bit(base_, i)) continue;
    std::string name = "bit " + std::to_string(i);
    for (const Row& row : fields().structs.at(structure_))
      if (row.name != "." && row.place.offset <= i && i < row.place.offset + row.place.bits) name = row.name;
    return std::string(structure_) + "." + name;
  }
  return "";
}

} // namespace standin
