/* SPDX-License-Identifier: Apache-2.0 */
/* Correct command mailboxes for the stand-in's own tests; each `in` has MAILBOX bytes, of which it uses what it returns. */
#ifndef GPUVERBS_TEST_MLX5_MAILBOXES_H
#define GPUVERBS_TEST_MLX5_MAILBOXES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MAILBOX 512

struct cq_request {
  uint32_t umem, dbr_umem, uar, eqn;
  uint64_t offset, dbr;
  int log_size, collapsed, ignore_overrun;
};

struct qp_request {
  uint32_t pdn, uar, send_cq, receive_cq, umem, dbr_umem;
  uint64_t offset, dbr;
  int log_depth, log_receive_depth; /* the latter -1: no receive queue */
};

struct path_request {
  uint32_t qpn, remote_qpn, send_psn, receive_psn;
  int mtu, gid_index, access; /* of ibv_access_flags */
  uint8_t rgid[16];
  uint8_t rmac[6]; /* all 0: InfiniBand */
  uint32_t rlid;
};

size_t fill_create_cq(void* in, const struct cq_request* r);
size_t fill_create_qp(void* in, const struct qp_request* r);
size_t fill_rst2init(void* in, const struct path_request* r);
size_t fill_init2rtr(void* in, const struct path_request* r);
size_t fill_rtr2rts(void* in, const struct path_request* r);
/* 0x507 2ERR, 0x50a 2RST, 0x50b QUERY */
size_t fill_plain(void* in, uint32_t opcode, uint32_t qpn);
size_t fill_query_caps(void* in, int type);

uint32_t read_cqn(const void* out);
uint32_t read_qpn(const void* out);
int read_state(const void* out); /* of a QUERY_QP */
int read_status(const void* out);
uint32_t read_syndrome(const void* out);
uint32_t read_atomic_mode(const void* out); /* atomic_req_8B_endianness_mode, of a QUERY_HCA_CAP */

#ifdef __cplusplus
}
#endif

#endif
