/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The submit protocol of ../include/gpuverbs/submit.h for Spin: who may write which slot when, who rings, and that nobody
 * waits for ever. Memory is sequentially consistent here; what fences are needed is the business of the memory-model checker.
 *
 * Set with -D:
 *   POLICY  CLASSIC, TURN or BITMAP         N  submitters           R  requests of each
 *   Q  depth of the ring in WQEBBs          W  largest request in WQEBBs (sizes 1..W in turn)
 *   B  doorbell_every                       S  signal_every         START the first index
 *   M  modulus of the NIC's counters, 65536 in mlx5
 *   TRY     reservations may be refused (FULL) instead of waiting for room; a refused request is dropped
 *   TIMEOUT a submitter may give up waiting at any time: it sets ERROR and leaves (I8)
 *
 * A mutant is a defect, turned on by -D; each must be caught: PUBLISH_FIRST NO_TURN NO_LOCK NO_SLOT_CHECK NO_TAIL QUIT
 * NO_SIGNAL UNSIGNED_CREDIT NO_RESCAN BITS_IN_ORDER.
 */
#define CLASSIC 0
#define TURN 1
#define BITMAP 2

#ifndef POLICY
#define POLICY TURN
#endif
#ifndef N
#define N 3
#endif
#ifndef R
#define R 3
#endif
#ifndef Q
#define Q 4
#endif
#ifndef W
#define W 1
#endif
#ifndef B
#define B 2
#endif
#ifndef S
#define S 1
#endif
#ifndef M
#define M 8
#endif
/* The first index, a multiple of Q: near M, so that short runs wrap. */
#ifndef START
#define START 0
#endif

#define SLOT(i) ((i) % Q)
/* 64-bit indexes don't wrap here; the NIC's 16-bit ones, DBR and CQE counter, do. */
#define BORDER(from, to) ((from) / B != (to) / B)
#define SIGNALED(from, to) ((from) / S != (to) / S)

byte resv, ready, posted, completed;
byte announced;    /* BITMAP: with `posted` one 64-bit word */
bit held;          /* CLASSIC: the post lock */
bit bits[Q];       /* BITMAP: a bit is ready when it differs from its lap's parity */
bit dead;          /* the state word: ERROR */

byte slot[Q];      /* ring: 1 + the index of the WQE whose block lies in the slot */
byte size[Q];      /* ring: blocks of the WQE that begins in the slot */
byte dbr;          /* modulo M */
bit bell;          /* the doorbell word: set by a ringer, taken by the NIC */
byte cqe;          /* collapsed CQE: index modulo M of the last signalled WQE */
bit cqe_valid;

byte nic;          /* slots the NIC has executed */
byte last_dbr;     /* ghost: the DBR without the modulus */
byte ringing;      /* ghost: submitters inside ring() */
byte finished;     /* ghost: submitters that have returned from their last request */

/* DBR, then doorbell. I3: never back, one at a time. */
inline ring(to) {
  atomic {
    ringing++;
    assert(ringing == 1);
    assert(to >= last_dbr);
    last_dbr = to;
    dbr = (to) % M
  }
  atomic {
    bell = 1;
    ringing--
  }
}

/* refresh_completed: `done` becomes what is known to be finished. Three looks at memory: the cache, the CQE, the WQE's size. */
inline refresh() {
  done = completed;
  do
  :: atomic {
       ahead = (M + cqe - done % M) % M;
       if
       :: !cqe_valid -> ahead = 0; break
#ifndef UNSIGNED_CREDIT
       :: cqe_valid && ahead >= M / 2 -> ahead = 0; break /* an old CQE: the difference is signed */
#endif
       :: else -> skip
       fi
     }
     ahead = done + ahead + size[SLOT(done + ahead)];
     atomic {
       if
       :: completed == done -> completed = ahead; done = ahead; ahead = 0; break
       :: else -> done = completed; ahead = 0
       fi
     }
  od
}

/* A spin that waits for `condition`: it ends with it, or because the queue is dead, or by giving up (I6, I8). */
inline await(condition) {
  if
  :: condition -> skip
  :: dead -> goto leave
#ifdef TIMEOUT
  :: true -> dead = 1; goto leave
#endif
  fi
}

/* Room as far as `done` knows. */
#ifdef NO_SLOT_CHECK
#define ROOM true
#else
#define ROOM (base + n - done <= Q)
#endif

/* The CQE says more than `completed`. */
#define NEWS (cqe_valid && (M + cqe - completed % M) % M < M / 2)

inline reserve() {
#ifdef TRY
  do
  :: atomic { base = resv; done = completed }
     if
     :: ROOM -> skip
     :: else -> refresh()
     fi;
     if
     :: ROOM -> skip
     :: else -> goto over /* FULL: decided before anything was taken */
     fi;
     atomic {
       if
       :: resv == base -> resv = base + n; break
       :: else -> skip
       fi
     }
  od
#else
#if POLICY == TURN
  peek = ready; /* before the reservation */
#endif
  atomic { base = resv; resv = resv + n; done = completed }
  do
  :: ROOM -> break
  :: else ->
     refresh();
     if
     :: ROOM -> break
     :: else -> await(completed != done || NEWS)
     fi
  od
#endif
  atomic { next = base + n; done = 0 }
}

/* I4: the NIC has executed what the slots held before. */
inline write_wqe() {
  atomic {
    k = 0;
    do
    :: k < n -> assert(base + k < Q + nic); slot[SLOT(base + k)] = base + k + 1; k++
    :: else -> break
    od;
    size[SLOT(base)] = n;
    k = 0
  }
}

#ifdef NO_TAIL
#define LAST_IN_LINE 0
#else
#define LAST_IN_LINE (resv == next)
#endif
#ifdef NO_TURN
#define MY_TURN true
#else
#define MY_TURN (ready == base)
#endif

inline publish_classic() {
  await(MY_TURN);
  atomic { assert(ready <= base); ready = next } /* I2 */
  if
  :: BORDER(base, next) || LAST_IN_LINE ->
#ifndef NO_LOCK
     do
     :: atomic { !held -> held = 1; break }
     :: dead -> goto leave
     od;
#endif
     if
     :: next > posted ->
#ifdef NO_LOCK
        skip;
#endif
        posted = next;
        ring(next)
     :: else -> skip
     fi;
     held = 0
  :: else -> skip
  fi
}

inline publish_turn() {
  if
  :: peek == base -> rings = 1
  :: else ->
     do
     :: atomic { rings = BORDER(base, next) || LAST_IN_LINE }
        if
        :: !rings ->
           /* One CAS passes the turn on while it comes. */
           await(MY_TURN);
           atomic { assert(ready == base); ready = next }
           goto published
        :: else ->
           await(MY_TURN || resv != next);
           if
           :: MY_TURN -> break
           :: else -> skip
           fi
        fi
     od
  fi;
  ring(next);
  atomic { assert(ready == base); ready = next } /* I2 */
}

inline publish_bitmap() {
  /* Each slot has a word of its own. Whoever gets past `base` finds the whole request. */
#ifdef BITS_IN_ORDER
  k = 0;
#else
  k = 1;
#endif
  do
  :: k < n -> atomic { bits[SLOT(base + k)] = 1 - bits[SLOT(base + k)]; k++ }
  :: else -> k = 0; break
  od;
#ifndef BITS_IN_ORDER
  bits[SLOT(base)] = 1 - bits[SLOT(base)];
#endif
  atomic {
    mine = announced;
    announced++;
    if
    :: mine != 0 -> goto published /* somebody is scanning and will see this announcement */
    :: else -> mine = 1; at = posted
    fi
  }
  do
  :: scan = at;
     do
     :: atomic { scan < at + Q && bits[SLOT(scan)] != (scan / Q) % 2 -> scan++ }
     :: else -> break
     od;
     if
     :: scan != at -> ring(scan)
     :: else -> skip
     fi;
     atomic {
       posted = posted + scan - at;
#ifdef NO_RESCAN
       announced = 0;
#else
       announced = announced - mine;
#endif
       mine = announced;
       at = posted;
       if
       :: mine == 0 -> break
       :: else -> skip
       fi
     }
  od
}

proctype Submitter(byte me) {
  byte r, n, base, next, done, ahead, k, peek, mine, at, scan;
  bit rings;
  do
  :: r < R && !dead ->
     atomic { n = 1 + (r + me) % W; peek = 255 }
     reserve();
#ifdef QUIT
     if
     :: me == 0 && r == R - 1 -> goto leave /* the caller's deadline, and the queue is told nothing */
     :: else -> skip
     fi;
#endif
#ifndef PUBLISH_FIRST
     write_wqe();
#endif
#if POLICY == CLASSIC
     publish_classic();
#elif POLICY == TURN
     publish_turn();
#else
     publish_bitmap();
#endif
published:
#ifdef PUBLISH_FIRST
     write_wqe();
#endif
over:
     atomic {
       r++;
       base = 0;
       next = 0;
       done = 0;
       ahead = 0;
       k = 0;
       mine = 0;
       at = 0;
       scan = 0;
       rings = 0
     }
  :: else -> break
  od;
leave:
  finished++
}

/* Takes the doorbell, then reads the DBR; executes in order; a CQE for each signalled WQE. */
proctype Nic() {
  byte pi;
end:
  do
  :: atomic { bell -> bell = 0 }
     atomic { pi = nic + (M + dbr - nic % M) % M; assert(pi <= nic + Q) }
     do
     :: nic < pi ->
        atomic {
          assert(slot[SLOT(nic)] == nic + 1); /* I1: the WQE that the index covers is there */
#ifndef NO_SIGNAL
          if
          :: SIGNALED(nic, nic + size[SLOT(nic)]) -> cqe = nic % M; cqe_valid = 1
          :: else -> skip
          fi;
#endif
          nic = nic + size[SLOT(nic)]
        }
     :: else -> pi = 0; break
     od
  od
}

/* When nothing can move any more all is done: nobody waits (I6), and no WQE is left without a doorbell (I3). */
proctype Monitor() {
end:
  timeout;
  assert(finished == N);
  assert(dead || nic == resv)
}

init {
  byte i;
  atomic {
    resv = START;
    ready = START;
    posted = START;
    completed = START;
    nic = START;
    last_dbr = START;
    dbr = START % M;
    do
    :: i < Q -> bits[i] = (START / Q) % 2; i++
    :: else -> i = 0; break
    od;
    do
    :: i < N -> run Submitter(i); i++
    :: else -> break
    od;
    run Nic();
    run Monitor()
  }
}

#ifdef LIVE
/* Under weak fairness everybody returns, and what was published is executed. */
ltl live { <> (finished == N && (dead || nic == resv)) }
#endif
