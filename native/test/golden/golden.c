/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints golden.txt: the bytes of WQEs, CQEs, doorbell records and doorbells, made with rdma-core's own structs and
 * inline helpers. Both of our implementations (the C++ encoder, the Java decoder) are compared with it.
 *
 *   cc -Wall -Werror -o golden golden.c && ./golden > golden.txt        # needs libibverbs-dev, no library
 *
 * golden.txt is committed; a test makes it again where the headers exist.
 */
#include <endian.h>
#include <infiniband/mlx5dv.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES 512

static unsigned char wqe[MAX_BYTES] __attribute__((aligned(64)));

struct segment {
  uint32_t length;
  uint32_t lkey;
  uint64_t address;
};

struct request {
  const char* op;
  uint8_t opcode;
  uint16_t idx;
  uint32_t qpn;
  int signaled, solicited, fence;
  uint32_t imm;
  uint64_t raddr;
  uint32_t rkey;
  int segments;
  struct segment segment[3];
  int inline_length; /* -1: none */
  uint64_t swap_add, compare;
};

static void print_bytes(const void* bytes, size_t count) {
  const unsigned char* p = bytes;
  printf(" bytes=");
  for (size_t i = 0; i < count; i++) printf("%02x", p[i]);
  printf("\n");
}

static unsigned char inline_byte(int i) { return (unsigned char)(0x11 + 7 * i); }

static int has_remote(uint8_t opcode) {
  return opcode == MLX5_OPCODE_RDMA_WRITE || opcode == MLX5_OPCODE_RDMA_WRITE_IMM || opcode == MLX5_OPCODE_RDMA_READ ||
         opcode == MLX5_OPCODE_ATOMIC_CS || opcode == MLX5_OPCODE_ATOMIC_FA;
}

static int has_atomic(uint8_t opcode) { return opcode == MLX5_OPCODE_ATOMIC_CS || opcode == MLX5_OPCODE_ATOMIC_FA; }

static int has_imm(uint8_t opcode) { return opcode == MLX5_OPCODE_RDMA_WRITE_IMM || opcode == MLX5_OPCODE_SEND_IMM; }

static void print_wqe(const struct request* r) {
  memset(wqe, 0, sizeof wqe);
  unsigned char* at = wqe + sizeof(struct mlx5_wqe_ctrl_seg);
  if (has_remote(r->opcode)) {
    struct mlx5_wqe_raddr_seg* raddr = (void*)at;
    raddr->raddr = htobe64(r->raddr);
    raddr->rkey = htobe32(r->rkey);
    raddr->reserved = 0;
    at += sizeof *raddr;
  }
  if (has_atomic(r->opcode)) {
    struct mlx5_wqe_atomic_seg* atomic = (void*)at;
    atomic->swap_add = htobe64(r->swap_add);
    atomic->compare = htobe64(r->compare);
    at += sizeof *atomic;
  }
  /* rdma-core's set_data_inl_seg: nothing at all for zero bytes, else padded to 16. */
  if (r->inline_length > 0) {
    struct mlx5_wqe_inl_data_seg* head = (void*)at;
    head->byte_count = htobe32((uint32_t)r->inline_length | MLX5_INLINE_SEG);
    for (int i = 0; i < r->inline_length; i++) at[sizeof *head + i] = inline_byte(i);
    at += (sizeof *head + r->inline_length + 15) / 16 * 16;
  }
  for (int i = 0; i < r->segments; i++) {
    mlx5dv_set_data_seg((struct mlx5_wqe_data_seg*)at, r->segment[i].length, r->segment[i].lkey, r->segment[i].address);
    at += sizeof(struct mlx5_wqe_data_seg);
  }
  uint8_t ds = (uint8_t)((at - wqe) / 16);
  uint8_t fm_ce_se = (r->signaled ? MLX5_WQE_CTRL_CQ_UPDATE : 0) | (r->solicited ? MLX5_WQE_CTRL_SOLICITED : 0) |
                     (r->fence ? MLX5_WQE_CTRL_FENCE : 0);
  mlx5dv_set_ctrl_seg((struct mlx5_wqe_ctrl_seg*)wqe, r->idx, r->opcode, 0, r->qpn, fm_ce_se, ds, 0,
                      has_imm(r->opcode) ? htobe32(r->imm) : 0);

  printf("wqe op=%s opcode=0x%x idx=0x%x qpn=0x%x signaled=%d solicited=%d fence=%d", r->op, r->opcode, r->idx, r->qpn,
         r->signaled, r->solicited, r->fence);
  if (has_imm(r->opcode)) printf(" imm=0x%x", r->imm);
  if (has_remote(r->opcode)) printf(" raddr=0x%llx rkey=0x%x", (unsigned long long)r->raddr, r->rkey);
  if (has_atomic(r->opcode))
    printf(" swap_add=0x%llx compare=0x%llx", (unsigned long long)r->swap_add, (unsigned long long)r->compare);
  if (r->inline_length >= 0) {
    printf(" inline=0x%x", r->inline_length);
    if (r->inline_length > 0) printf(" data=");
    for (int i = 0; i < r->inline_length; i++) printf("%02x", inline_byte(i));
  }
  printf(" segments=%d", r->segments);
  for (int i = 0; i < r->segments; i++)
    printf(" length%d=0x%x lkey%d=0x%x address%d=0x%llx", i, r->segment[i].length, i, r->segment[i].lkey, i,
           (unsigned long long)r->segment[i].address);
  printf(" fm_ce_se=0x%x ds=0x%x wqebbs=0x%x", fm_ce_se, ds, (ds * 16 + MLX5_SEND_WQE_BB - 1) / MLX5_SEND_WQE_BB);
  print_bytes(wqe, ds * 16u);
}

static const struct segment SEGMENT[3] = {
    {64, 0x11223344, 0x0102030405060708ull},
    {4096, 0xfffefdfc, 0x00007f00deadbee8ull},
    {0x40000000, 0x80000001, 0xfffffffffffff000ull},
};

static struct request request(const char* op, uint8_t opcode, uint16_t idx, uint32_t qpn, int flags) {
  struct request r = {.op = op, .opcode = opcode, .idx = idx, .qpn = qpn, .inline_length = -1};
  r.signaled = flags & 1;
  r.solicited = flags >> 1 & 1;
  r.fence = flags >> 2 & 1;
  r.imm = 0xdeadbeef;
  r.raddr = 0x123456789abcdef0ull;
  r.rkey = 0xa1b2c3d4;
  memcpy(r.segment, SEGMENT, sizeof SEGMENT);
  return r;
}

static const uint16_t IDX[] = {0, 1, 0x1234, 0xffff};
static const uint32_t QPN[] = {0x2, 0xabcdef, 0x800000, 0xfffffe};
#define COUNT(a) (int)(sizeof(a) / sizeof(a)[0])

static void print_wqes(void) {
  static const struct {
    const char* op;
    uint8_t opcode;
    int least, most; /* data segments */
  } KIND[] = {
      {"NOP", MLX5_OPCODE_NOP, 0, 0},
      {"WRITE", MLX5_OPCODE_RDMA_WRITE, 0, 3},
      {"WRITE_IMM", MLX5_OPCODE_RDMA_WRITE_IMM, 0, 3},
      {"READ", MLX5_OPCODE_RDMA_READ, 0, 3},
      {"SEND", MLX5_OPCODE_SEND, 0, 3},
      {"SEND_IMM", MLX5_OPCODE_SEND_IMM, 0, 3},
  };
  for (int k = 0; k < COUNT(KIND); k++)
    for (int segments = KIND[k].least; segments <= KIND[k].most; segments++)
      for (int i = 0; i < COUNT(IDX); i++)
        for (int flags = 0; flags < 8; flags++) {
          /* Each flag alone, none and all, on every index; the other combinations once. */
          if (i != 0 && (flags == 3 || flags == 5 || flags == 6)) continue;
          struct request r = request(KIND[k].op, KIND[k].opcode, IDX[i], QPN[(i + segments) % COUNT(QPN)], flags);
          r.segments = segments;
          r.imm = i == 1 ? 1 : i == 2 ? 0 : r.imm;
          print_wqe(&r);
        }
  static const int LENGTH[] = {0, 1, 4, 8, 11, 12, 13, 16, 27, 28, 29, 32, 44, 60, 64, 92, 93, 128, 220, 256};
  for (int k = 0; k < COUNT(LENGTH); k++)
    for (int i = 0; i < COUNT(IDX); i++) {
      struct request r = request("WRITE_INLINE", MLX5_OPCODE_RDMA_WRITE, IDX[i], QPN[i], i);
      r.inline_length = LENGTH[k];
      print_wqe(&r);
    }
  static const uint64_t OPERAND[] = {0, 1, 0x0123456789abcdefull, 0xffffffffffffffffull};
  for (int i = 0; i < COUNT(IDX); i++)
    for (int o = 0; o < COUNT(OPERAND); o++) {
      struct request r = request("FETCH_ADD", MLX5_OPCODE_ATOMIC_FA, IDX[i], QPN[i], o);
      r.segments = 1;
      r.segment[0].length = 8;
      r.swap_add = OPERAND[o];
      print_wqe(&r);
      r = request("COMPARE_SWAP", MLX5_OPCODE_ATOMIC_CS, IDX[i], QPN[i], o);
      r.segments = 1;
      r.segment[0].length = 8;
      r.swap_add = OPERAND[o];
      r.compare = OPERAND[(o + 1) % COUNT(OPERAND)];
      print_wqe(&r);
    }
}

/* rdma-core's mlx5_post_recv: the list ends with an invalid lkey unless the stride is full. */
static void print_receives(void) {
  static const int MAX_SEGMENTS = 64 / sizeof(struct mlx5_wqe_data_seg);
  for (int segments = 0; segments <= 3; segments++) {
    memset(wqe, 0, sizeof wqe);
    struct mlx5_wqe_data_seg* seg = (void*)wqe;
    for (int i = 0; i < segments; i++)
      mlx5dv_set_data_seg(&seg[i], SEGMENT[i].length, SEGMENT[i].lkey, SEGMENT[i].address);
    if (segments < MAX_SEGMENTS) mlx5dv_set_data_seg(&seg[segments], 0, MLX5_INVALID_LKEY, 0);
    printf("receive segments=%d", segments);
    for (int i = 0; i < segments; i++)
      printf(" length%d=0x%x lkey%d=0x%x address%d=0x%llx", i, SEGMENT[i].length, i, SEGMENT[i].lkey, i,
             (unsigned long long)SEGMENT[i].address);
    print_bytes(wqe, (segments + (segments < MAX_SEGMENTS)) * sizeof *seg);
  }
}

static void check(int ok, const char* what) {
  if (!ok) {
    fprintf(stderr, "golden: %s\n", what);
    exit(1);
  }
}

static void print_cqe(const char* kind, uint8_t opcode, uint8_t owner, int solicited, uint32_t qpn, uint16_t counter,
                      uint8_t send_opcode, uint32_t byte_cnt, uint32_t imm) {
  struct mlx5_cqe64 cqe;
  memset(&cqe, 0, sizeof cqe);
  cqe.imm_inval_pkey = htobe32(imm);
  cqe.byte_cnt = htobe32(byte_cnt);
  /* mlx5_parse_cqe: the opcode of the WQE is the top byte of sop_drop_qpn. */
  cqe.sop_drop_qpn = htobe32((uint32_t)send_opcode << 24 | qpn);
  cqe.wqe_counter = htobe16(counter);
  cqe.op_own = (uint8_t)(opcode << 4 | solicited << 1);
  mlx5dv_set_cqe_owner(&cqe, owner);
  check(mlx5dv_get_cqe_opcode(&cqe) == opcode && mlx5dv_get_cqe_owner(&cqe) == owner &&
            mlx5dv_get_cqe_se(&cqe) == solicited && mlx5dv_get_cqe_format(&cqe) == 0,
        "a CQE does not read back");
  printf(
      "cqe kind=%s opcode=0x%x owner=%d solicited=%d qpn=0x%x wqe_counter=0x%x send_opcode=0x%x byte_cnt=0x%x imm=0x%x",
      kind, opcode, owner, solicited, qpn, counter, send_opcode, byte_cnt, imm);
  print_bytes(&cqe, sizeof cqe);
}

static void print_error_cqe(const char* kind, uint8_t opcode, uint8_t owner, uint32_t qpn, uint16_t counter,
                            uint8_t send_opcode, uint8_t syndrome, uint8_t vendor) {
  struct mlx5_err_cqe cqe;
  memset(&cqe, 0, sizeof cqe);
  cqe.vendor_err_synd = vendor;
  cqe.syndrome = syndrome;
  cqe.s_wqe_opcode_qpn = htobe32((uint32_t)send_opcode << 24 | qpn);
  cqe.wqe_counter = htobe16(counter);
  cqe.op_own = (uint8_t)(opcode << 4 | owner);
  printf(
      "cqe kind=%s opcode=0x%x owner=%d solicited=0 qpn=0x%x wqe_counter=0x%x send_opcode=0x%x syndrome=0x%x "
      "vendor=0x%x",
      kind, opcode, owner, qpn, counter, send_opcode, syndrome, vendor);
  print_bytes(&cqe, sizeof cqe);
}

static void print_cqes(void) {
  static const uint8_t SEND[] = {MLX5_OPCODE_NOP,       MLX5_OPCODE_RDMA_WRITE, MLX5_OPCODE_RDMA_WRITE_IMM,
                                 MLX5_OPCODE_SEND,      MLX5_OPCODE_SEND_IMM,   MLX5_OPCODE_RDMA_READ,
                                 MLX5_OPCODE_ATOMIC_CS, MLX5_OPCODE_ATOMIC_FA};
  static const uint8_t SYNDROME[] = {MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR,
                                     MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR,
                                     MLX5_CQE_SYNDROME_LOCAL_PROT_ERR,
                                     MLX5_CQE_SYNDROME_WR_FLUSH_ERR,
                                     MLX5_CQE_SYNDROME_MW_BIND_ERR,
                                     MLX5_CQE_SYNDROME_BAD_RESP_ERR,
                                     MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR,
                                     MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR,
                                     MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR,
                                     MLX5_CQE_SYNDROME_REMOTE_OP_ERR,
                                     MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR,
                                     MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR,
                                     MLX5_CQE_SYNDROME_REMOTE_ABORTED_ERR};
  for (uint8_t owner = 0; owner < 2; owner++)
    for (int i = 0; i < COUNT(IDX); i++) {
      for (int s = 0; s < COUNT(SEND); s++)
        print_cqe("REQ", MLX5_CQE_REQ, owner, 0, QPN[i], IDX[i], SEND[s],
                  SEND[s] == MLX5_OPCODE_RDMA_READ   ? 0x12345
                  : SEND[s] >= MLX5_OPCODE_ATOMIC_CS ? 8
                                                     : 0,
                  0);
      for (int se = 0; se < 2; se++) {
        print_cqe("RESP_WR_IMM", MLX5_CQE_RESP_WR_IMM, owner, se, QPN[i], IDX[i], 0, 0x40000000, 0xdeadbeef);
        print_cqe("RESP_SEND", MLX5_CQE_RESP_SEND, owner, se, QPN[i], IDX[i], 0, i, 0);
        print_cqe("RESP_SEND_IMM", MLX5_CQE_RESP_SEND_IMM, owner, se, QPN[i], IDX[i], 0, 64, 0x01020304);
      }
    }
  for (int s = 0; s < COUNT(SYNDROME); s++) {
    print_error_cqe("REQ_ERR", MLX5_CQE_REQ_ERR, s & 1, QPN[s % 4], IDX[s % 4], MLX5_OPCODE_RDMA_WRITE, SYNDROME[s],
                    0x32);
    print_error_cqe("RESP_ERR", MLX5_CQE_RESP_ERR, s & 1, QPN[s % 4], IDX[s % 4], 0, SYNDROME[s], 0);
  }
}

/* rdma-core's get_sw_cqe: a CQE at consumer index ci of a ring of depth is software's. */
static void print_owners(void) {
  static const uint8_t OPCODE[] = {MLX5_CQE_REQ, MLX5_CQE_RESP_SEND, MLX5_CQE_REQ_ERR, MLX5_CQE_INVALID};
  static const uint32_t CI[] = {0, 1, 63, 64, 65, 127, 128, 0xffffffc0u};
  for (int o = 0; o < COUNT(OPCODE); o++)
    for (int c = 0; c < COUNT(CI); c++)
      for (int owner = 0; owner < 2; owner++) {
        struct mlx5_cqe64 cqe = {.op_own = (uint8_t)(OPCODE[o] << 4)};
        mlx5dv_set_cqe_owner(&cqe, (uint8_t)owner);
        int valid = mlx5dv_get_cqe_opcode(&cqe) != MLX5_CQE_INVALID && !(mlx5dv_get_cqe_owner(&cqe) ^ !!(CI[c] & 64));
        printf("owner op_own=0x%x ci=0x%x depth=0x40 valid=%d\n", cqe.op_own, CI[c], valid);
      }
}

static void print_doorbells(void) {
  static const uint32_t PI[] = {0, 1, 0xffff, 0x10000, 0x12345};
  for (int i = 0; i < COUNT(PI); i++) {
    uint32_t dbr[2];
    dbr[MLX5_RCV_DBR] = htobe32((PI[i] + 1) & 0xffff);
    dbr[MLX5_SND_DBR] = htobe32(PI[i] & 0xffff);
    printf("dbr receive=0x%x send=0x%x", PI[i] + 1, PI[i]);
    print_bytes(dbr, sizeof dbr);
  }
  /* The register takes the first 8 bytes of a WQE, or a control segment that has only the producer index and the QP. */
  for (int i = 0; i < COUNT(IDX); i++) {
    struct mlx5_wqe_ctrl_seg ctrl;
    memset(&ctrl, 0, sizeof ctrl);
    mlx5dv_set_ctrl_seg(&ctrl, IDX[i], 0, 0, QPN[i], 0, 0, 0, 0);
    printf("doorbell pi=0x%x qpn=0x%x", IDX[i], QPN[i]);
    print_bytes(&ctrl, 8);
  }
}

#define FIELD(type, field)                                                                     \
  printf("field %s.%s offset=0x%zx size=0x%zx\n", #type, #field, offsetof(struct type, field), \
         sizeof(((struct type*)0)->field))
#define SIZE(type) printf("struct %s size=0x%zx\n", #type, sizeof(struct type))
#define CONST(name) printf("const %s value=0x%x\n", #name, (unsigned)(name))

static void print_layouts(void) {
  SIZE(mlx5_wqe_ctrl_seg);
  FIELD(mlx5_wqe_ctrl_seg, opmod_idx_opcode);
  FIELD(mlx5_wqe_ctrl_seg, qpn_ds);
  FIELD(mlx5_wqe_ctrl_seg, signature);
  FIELD(mlx5_wqe_ctrl_seg, fm_ce_se);
  FIELD(mlx5_wqe_ctrl_seg, imm);
  SIZE(mlx5_wqe_raddr_seg);
  FIELD(mlx5_wqe_raddr_seg, raddr);
  FIELD(mlx5_wqe_raddr_seg, rkey);
  SIZE(mlx5_wqe_data_seg);
  FIELD(mlx5_wqe_data_seg, byte_count);
  FIELD(mlx5_wqe_data_seg, lkey);
  FIELD(mlx5_wqe_data_seg, addr);
  SIZE(mlx5_wqe_atomic_seg);
  FIELD(mlx5_wqe_atomic_seg, swap_add);
  FIELD(mlx5_wqe_atomic_seg, compare);
  SIZE(mlx5_wqe_inl_data_seg);
  SIZE(mlx5_cqe64);
  FIELD(mlx5_cqe64, srqn_uidx);
  FIELD(mlx5_cqe64, imm_inval_pkey);
  FIELD(mlx5_cqe64, byte_cnt);
  FIELD(mlx5_cqe64, timestamp);
  FIELD(mlx5_cqe64, sop_drop_qpn);
  FIELD(mlx5_cqe64, wqe_counter);
  FIELD(mlx5_cqe64, signature);
  FIELD(mlx5_cqe64, op_own);
  SIZE(mlx5_err_cqe);
  FIELD(mlx5_err_cqe, vendor_err_synd);
  FIELD(mlx5_err_cqe, syndrome);
  FIELD(mlx5_err_cqe, s_wqe_opcode_qpn);
  FIELD(mlx5_err_cqe, wqe_counter);
  FIELD(mlx5_err_cqe, op_own);
  CONST(MLX5_SEND_WQE_BB);
  CONST(MLX5_SEND_WQE_SHIFT);
  CONST(MLX5_INLINE_SEG);
  CONST(MLX5_INVALID_LKEY);
  CONST(MLX5_RCV_DBR);
  CONST(MLX5_SND_DBR);
  CONST(MLX5_WQE_CTRL_CQ_UPDATE);
  CONST(MLX5_WQE_CTRL_SOLICITED);
  CONST(MLX5_WQE_CTRL_FENCE);
  CONST(MLX5_WQE_CTRL_INITIATOR_SMALL_FENCE);
  CONST(MLX5_OPCODE_NOP);
  CONST(MLX5_OPCODE_RDMA_WRITE);
  CONST(MLX5_OPCODE_RDMA_WRITE_IMM);
  CONST(MLX5_OPCODE_SEND);
  CONST(MLX5_OPCODE_SEND_IMM);
  CONST(MLX5_OPCODE_RDMA_READ);
  CONST(MLX5_OPCODE_ATOMIC_CS);
  CONST(MLX5_OPCODE_ATOMIC_FA);
  CONST(MLX5_OPCODE_ATOMIC_MASKED_CS);
  CONST(MLX5_OPCODE_ATOMIC_MASKED_FA);
  CONST(MLX5_CQE_OWNER_MASK);
  CONST(MLX5_CQE_REQ);
  CONST(MLX5_CQE_RESP_WR_IMM);
  CONST(MLX5_CQE_RESP_SEND);
  CONST(MLX5_CQE_RESP_SEND_IMM);
  CONST(MLX5_CQE_REQ_ERR);
  CONST(MLX5_CQE_RESP_ERR);
  CONST(MLX5_CQE_INVALID);
  CONST(MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR);
  CONST(MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
  CONST(MLX5_CQE_SYNDROME_LOCAL_PROT_ERR);
  CONST(MLX5_CQE_SYNDROME_WR_FLUSH_ERR);
  CONST(MLX5_CQE_SYNDROME_MW_BIND_ERR);
  CONST(MLX5_CQE_SYNDROME_BAD_RESP_ERR);
  CONST(MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR);
  CONST(MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR);
  CONST(MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR);
  CONST(MLX5_CQE_SYNDROME_REMOTE_OP_ERR);
  CONST(MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR);
  CONST(MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR);
  CONST(MLX5_CQE_SYNDROME_REMOTE_ABORTED_ERR);
}

static const char HEADER[] =
    "# SPDX-License-Identifier: Apache-2.0\n"
    "# Made by golden.c with rdma-core's structs and inline helpers. Do not edit.\n"
    "#\n"
    "# One record a line: a kind, then key=value pairs separated by one space. Numbers are 0x-hexadecimal (counts and "
    "flags of\n"
    "# one digit are plain), in host order; bytes= and data= are hexadecimal without prefix, in memory order.\n"
    "#\n"
    "# struct NAME size=                   sizeof\n"
    "# field NAME.FIELD offset= size=      offsetof, sizeof\n"
    "# const NAME value=\n"
    "# wqe op= ... bytes=                  op is a GV_OP_* name of gpuverbs/queue.h without the prefix. idx: 16-bit "
    "index of the\n"
    "#   first WQEBB. imm only with *_IMM; raddr and rkey only where there is a remote address; swap_add and compare "
    "only with\n"
    "#   atomics; inline (bytes) and data only with WRITE_INLINE; lengthN lkeyN addressN for each of segments. "
    "fm_ce_se, ds and\n"
    "#   wqebbs are what results. bytes holds ds * 16 bytes; the rest of the last WQEBB isn't defined.\n"
    "# receive segments= ... bytes=        a receive WQE, up to and including the segment that ends the list.\n"
    "# cqe kind= ... bytes=                64 bytes; fields not named are 0.\n"
    "# owner op_own= ci= depth= valid=     whether a consumer at index ci of a ring of depth may take a CQE with this "
    "op_own.\n"
    "# dbr receive= send= bytes=           the doorbell record, for producer indexes wider than 16 bits\n"
    "# doorbell pi= qpn= bytes=            the 64-bit doorbell, in the convention without an opcode\n";

int main(void) {
  fputs(HEADER, stdout);
  print_layouts();
  print_wqes();
  print_receives();
  print_cqes();
  print_owners();
  print_doorbells();
  return 0;
}
