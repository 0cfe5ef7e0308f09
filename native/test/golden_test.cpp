// SPDX-License-Identifier: Apache-2.0
// The encoder against golden/golden.txt, whose bytes come from rdma-core's own structs and inline helpers.
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "check.h"
#include "gpuverbs/submit.h"
#include "nic.h"

namespace {

using Record = std::map<std::string, std::string>;

std::vector<Record> records(const std::string& kind) {
  std::vector<Record> all;
  std::ifstream in(GV_GOLDEN_FILE);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word != kind) continue;
    Record r;
    while (words >> word) r[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
    all.push_back(r);
  }
  return all;
}

uint64_t number(const Record& r, const std::string& key) {
  const auto at = r.find(key);
  return at == r.end() ? 0 : std::strtoull(at->second.c_str(), nullptr, 0);
}

std::vector<uint8_t> bytes(const Record& r, const std::string& key) {
  std::vector<uint8_t> out;
  const auto at = r.find(key);
  if (at == r.end()) return out;
  for (size_t i = 0; i + 1 < at->second.size(); i += 2)
    out.push_back(static_cast<uint8_t>(std::strtoul(at->second.substr(i, 2).c_str(), nullptr, 16)));
  return out;
}

uint8_t op_of(const std::string& name) {
  static const std::map<std::string, uint8_t> ops = {{"NOP", GV_OP_NOP},
                                                     {"WRITE", GV_OP_WRITE},
                                                     {"WRITE_IMM", GV_OP_WRITE_IMM},
                                                     {"WRITE_INLINE", GV_OP_WRITE_INLINE},
                                                     {"READ", GV_OP_READ},
                                                     {"SEND", GV_OP_SEND},
                                                     {"SEND_IMM", GV_OP_SEND_IMM},
                                                     {"COMPARE_SWAP", GV_OP_COMPARE_SWAP},
                                                     {"FETCH_ADD", GV_OP_FETCH_ADD}};
  return ops.at(name);
}

// Writes the record's request at its index and returns the bytes that the ring then holds, as many as the record has.
std::vector<uint8_t> encode(const Record& r, gv_qp* qp, const std::vector<uint8_t>& data) {
  gv_request q;
  std::memset(&q, 0, sizeof q);
  q.op = op_of(r.at("op"));
  const uint64_t fm = number(r, "fm_ce_se");
  q.flags = static_cast<uint8_t>((fm & 0x08 ? GV_FLAG_SIGNALED : 0) | (fm & 0x02 ? GV_FLAG_SOLICITED : 0) |
                                 (fm & 0x80 ? GV_FLAG_FENCE : 0));
  q.segments = static_cast<uint8_t>(number(r, "segments"));
  q.wqebbs = static_cast<uint8_t>(number(r, "wqebbs"));
  q.immediate = static_cast<uint32_t>(number(r, "imm"));
  q.remote_address = number(r, "raddr");
  q.rkey = static_cast<uint32_t>(number(r, "rkey"));
  q.compare = number(r, "compare");
  q.swap_or_add = number(r, q.op == GV_OP_COMPARE_SWAP || q.op == GV_OP_FETCH_ADD ? "swap_add" : "none");
  q.inline_length = static_cast<uint32_t>(number(r, "inline"));
  q.inline_address = reinterpret_cast<uint64_t>(data.data());
  for (int i = 0; i < q.segments; i++) {
    const std::string n = std::to_string(i);
    q.segment[i] = {number(r, "address" + n), static_cast<uint32_t>(number(r, "length" + n)),
                    static_cast<uint32_t>(number(r, "lkey" + n))};
  }
  qp->sq->qpn = static_cast<uint32_t>(number(r, "qpn"));
  const uint64_t index = number(r, "idx");
  gpuverbs::Queue view = gpuverbs::view_of(qp->sq);
  view.signal_every = 1u << 31; // the records' own signalling
  gpuverbs::write_wqe<GV_FENCE_SYSTEM>(view, index, &q);
  std::vector<uint8_t> out(bytes(r, "bytes").size());
  for (size_t i = 0; i < out.size(); i++)
    out[i] = reinterpret_cast<uint8_t*>(qp->ring)[(index * 64 + i) & (static_cast<uint64_t>(qp->depth) * 64 - 1)];
  return out;
}

} // namespace

TEST(every_operation_encodes_to_the_golden_bytes) {
  gv_qp* qp = open_queue({"turn", GV_HANDOVER_TURN_CAS, GV_FENCE_SYSTEM, 1}, 64);
  std::map<std::string, int> seen;
  for (const Record& r : records("wqe")) {
    const std::vector<uint8_t> data = bytes(r, "data");
    const bool same = encode(r, qp, data) == bytes(r, "bytes");
    if (!same)
      std::printf("  differs: %s idx=%s segments=%s inline=%s\n", r.at("op").c_str(), r.at("idx").c_str(),
                  r.count("segments") ? r.at("segments").c_str() : "", r.count("inline") ? r.at("inline").c_str() : "");
    CHECK(same);
    seen[r.at("op")]++;
  }
  CHECK(seen.size() == 9);
  gv_qp_destroy(qp);
}

TEST(a_record_of_another_wqe_is_told_apart) {
  gv_qp* qp = open_queue({"turn", GV_HANDOVER_TURN_CAS, GV_FENCE_SYSTEM, 1}, 64);
  Record r = records("wqe").front();
  const std::vector<uint8_t> golden = bytes(r, "bytes");
  r["qpn"] = "0x1";
  CHECK(encode(r, qp, {}) != golden);
  gv_qp_destroy(qp);
}

TEST(doorbells_and_dbr_have_the_golden_bytes) {
  int seen = 0;
  for (const Record& r : records("doorbell")) {
    gv_qp* qp = open_queue({"exclusive", GV_HANDOVER_EXCLUSIVE, GV_FENCE_SYSTEM, 1}, 64);
    qp->sq->qpn = static_cast<uint32_t>(number(r, "qpn"));
    const uint64_t pi = number(r, "pi");
    gpuverbs::ring<GV_FENCE_SYSTEM>(gpuverbs::view_of(qp->sq), pi);
    CHECK(std::memcmp(reinterpret_cast<void*>(qp->doorbell), bytes(r, "bytes").data(), 8) == 0);
    const uint16_t low = static_cast<uint16_t>(pi);
    CHECK(reinterpret_cast<uint8_t*>(qp->dbr)[6] == low >> 8 && reinterpret_cast<uint8_t*>(qp->dbr)[7] == (low & 0xff));
    gv_qp_destroy(qp);
    seen++;
  }
  CHECK(seen > 0);
}

TEST(receives_have_the_golden_bytes) {
  int seen = 0;
  for (const Record& r : records("receive")) {
    gv_qp_attr a;
    std::memset(&a, 0, sizeof a);
    a.depth = 64;
    a.receive_depth = 4;
    a.doorbell_every = a.max_group_wqebbs = a.collapsed = 1;
    gv_qp* qp = nullptr;
    CHECK(gv_qp_create(&a, &qp, nullptr) == 0);
    gv_segment s[GV_MAX_SEGMENTS] = {};
    const uint32_t n = static_cast<uint32_t>(number(r, "segments"));
    for (uint32_t i = 0; i < n; i++) {
      const std::string k = std::to_string(i);
      s[i] = {number(r, "address" + k), static_cast<uint32_t>(number(r, "length" + k)),
              static_cast<uint32_t>(number(r, "lkey" + k))};
    }
    CHECK(gv_post_receive(qp, s, n, 0) == 0);
    const std::vector<uint8_t> golden = bytes(r, "bytes");
    CHECK(std::memcmp(reinterpret_cast<void*>(qp->receive_ring), golden.data(), golden.size()) == 0);
    gv_qp_destroy(qp);
    seen++;
  }
  CHECK(seen == 4);
}

int main(int argc, char** argv) { return check::run(argc, argv); }
