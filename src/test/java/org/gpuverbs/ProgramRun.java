// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.gpuverbs.Program.Op;
import org.gpuverbs.Program.Shape;
import org.gpuverbs.Program.Step;
import org.gpuverbs.ProgramModel.Done;
import org.jspecify.annotations.Nullable;

/** Runs a program on queue pairs and on the model, and compares. */
final class ProgramRun {
  /** One queue pair, its peer, and the model of both. */
  private static final class Lane {
    final ProgramModel model;
    final Payload here;
    final Payload there;
    final @Nullable CompletionQueue sendQueue;
    final CompletionQueue receiveQueue;
    final QueuePair qp;
    final QueuePair peer;
    final List<Done> sent = new ArrayList<>();
    final List<Done> received = new ArrayList<>();
    long last = -1;

    Lane(Nic nic, @Nullable Gpu gpu, Payload.Kind kind, Shape shape, long seed) {
      model = new ProgramModel(seed);
      here = new Payload(nic, gpu, kind, model.here.length, Access.LOCAL_WRITE);
      there = new Payload(nic, gpu, kind, model.there.length, Pair.ALL);
      here.set(0, model.here);
      there.set(0, model.there);
      QueuePairOptions.Builder options =
          QueuePairOptions.builder()
              .depth(shape.depth())
              .policy(
                  SubmitPolicy.TURN
                      .handOver(shape.handOver())
                      .doorbellEvery(shape.doorbellEvery()));
      if (gpu != null) {
        options.gpu(gpu);
      }
      sendQueue = shape.fullCq() ? nic.completionQueue(shape.depth()) : null;
      if (sendQueue != null) {
        options.sendQueue(sendQueue);
      }
      qp = nic.queuePair(options.build());
      receiveQueue = nic.completionQueue(Program.RECEIVES);
      peer =
          nic.queuePair(
              QueuePairOptions.builder()
                  .receiveDepth(Program.RECEIVES)
                  .receiveQueue(receiveQueue)
                  .build());
      Pair.connect(qp, peer);
    }

    void postReceives(int count) {
      for (int id = 0; id < count; id++) {
        LocalMemory where = there.region.local(ProgramModel.receiveAt(id), Program.RECEIVE);
        assertEquals(id, peer.postReceive(id, where));
      }
    }

    void drain(Completions into) {
      if (sendQueue != null) {
        take(sendQueue, into, sent);
      }
      take(receiveQueue, into, received);
    }

    private void take(CompletionQueue queue, Completions into, List<Done> list) {
      while (queue.poll(into) > 0) {
        for (int i = 0; i < into.size(); i++) {
          boolean receive = into.isReceive(i);
          assertEquals(receive ? peer.number() : qp.number(), into.qpNumber(i));
          list.add(
              new Done(
                  into.id(i),
                  into.syndrome(i),
                  receive ? into.byteLength(i) : 0,
                  into.hasImmediate(i),
                  into.immediate(i)));
        }
      }
    }

    /** What the request takes its inline data from: copied when the batch is built. */
    private MemorySegment source(Op op) {
      return MemorySegment.ofArray(
          Arrays.copyOfRange(model.here, op.here(), op.here() + op.length()));
    }

    WorkRequest request(Op op, ProgramModel before) {
      List<LocalMemory> local = new ArrayList<>();
      boolean lands =
          switch (op.kind()) {
            case READ, COMPARE_SWAP, FETCH_ADD -> true;
            default -> false;
          };
      long at = op.here() + (lands ? Program.AREA : 0);
      for (int length : op.lengths()) {
        local.add(here.region.local(at, length));
        at += length;
      }
      RemoteMemory remote = there.region.remote(op.there(), op.length());
      return switch (op.kind()) {
        case NOP -> new WorkRequest.Nop();
        case WRITE -> new WorkRequest.Write(local, remote);
        case WRITE_IMMEDIATE -> new WorkRequest.WriteImmediate(local, remote, (int) op.value());
        case WRITE_INLINE -> new WorkRequest.WriteInline(source(op), remote);
        case READ -> new WorkRequest.Read(local, remote);
        case SEND -> new WorkRequest.Send(local);
        case SEND_IMMEDIATE -> new WorkRequest.SendImmediate(local, (int) op.value());
        case COMPARE_SWAP ->
            new WorkRequest.CompareSwap(local.getFirst(), remote, before.compare(op), op.value());
        case FETCH_ADD -> new WorkRequest.FetchAdd(local.getFirst(), remote, op.value());
        case FORGED ->
            new WorkRequest.WriteInline(
                1L, new RemoteMemory(there.region.address(), 8, ~there.region.remote().rkey()));
      };
    }
  }

  private final List<Lane> lanes = new ArrayList<>();
  private final Completions completions = new Completions(16);

  private final @Nullable Gpu gpu;
  private final Payload.Kind kind;

  private ProgramRun(@Nullable Gpu gpu, Payload.Kind kind) {
    this.gpu = gpu;
    this.kind = kind;
  }

  static void check(Program program) throws InterruptedException {
    new ProgramRun(null, Payload.Kind.HOST).run(program);
  }

  /** With the GPU as initiator of everything. */
  static void check(Program program, Gpu gpu, Payload.Kind kind) throws InterruptedException {
    new ProgramRun(gpu, kind).run(program);
  }

  private void run(Program program) throws InterruptedException {
    try (Nic nic = Nic.open();
        Initiator caller = gpu == null ? CpuLanes.caller() : GpuStream.open(gpu);
        Initiator threads = gpu == null ? CpuLanes.start(program.lanes()) : GpuStream.on(gpu, 0)) {
      for (Shape shape : program.queuePairs()) {
        lanes.add(new Lane(nic, gpu, kind, shape, lanes.size()));
      }
      for (int i = 0; i < lanes.size(); i++) {
        int index = i;
        lanes
            .get(i)
            .postReceives(
                (int)
                    program.steps().stream()
                        .filter(step -> step.queuePair() % lanes.size() == index)
                        .flatMap(step -> step.ops().stream())
                        .filter(Op::receives)
                        .count());
      }
      for (Step step : program.steps()) {
        Lane lane = lanes.get(step.queuePair() % lanes.size());
        boolean exclusive = lane.qp.policy().exclusive();
        // A queue pair of a GPU has one submitter: which of the two, its number says.
        boolean first =
            gpu == null ? step.initiator() == 0 || exclusive : lane.qp.number() % 2 == 0;
        submit(lane, step, first ? caller : threads);
      }
      for (Lane lane : lanes) {
        compare(lane);
        lane.qp.close();
        lane.here.close();
        lane.there.close();
      }
    }
  }

  private void submit(Lane lane, Step step, Initiator initiator) {
    List<WorkRequest> requests = new ArrayList<>();
    long expected = 0;
    for (Op op : step.ops()) {
      // Swaps are told what to expect, so the model runs along request by request.
      requests.add(lane.request(op, lane.model));
      expected = lane.model.run(List.of(op));
    }
    Batch.Signal signal = step.signalEvery() ? Batch.Signal.EVERY : Batch.Signal.LAST;
    try (Batch batch = Batch.of(lane.qp, signal, requests)) {
      long[] ticket = new long[1];
      Await.until(
          () -> {
            ticket[0] = initiator.submit(batch);
            lane.drain(completions);
            return ticket[0] != Status.FULL && ticket[0] != Status.BUSY;
          });
      if (ticket[0] != Status.QP_ERROR || lane.model.failed < 0) {
        assertEquals(expected, ticket[0]);
      }
      lane.last = expected;
    }
  }

  private void compare(Lane lane) {
    ProgramModel model = lane.model;
    if (lane.last < 0) {
      return;
    }
    long decisive = model.failed < 0 ? lane.last : model.failed;
    Await.until(
        () -> {
          lane.drain(completions);
          return lane.qp.poll(decisive) != Status.PENDING
              && lane.received.size() >= model.received.size();
        });
    if (model.failed < 0) {
      assertEquals(Status.DONE, lane.qp.poll(lane.last));
      assertEquals(QueuePairState.READY, lane.qp.state());
      assertEquals(model.received, lane.received);
      assertTrue(lane.sendQueue == null || model.sent.equals(lane.sent));
    } else {
      compareAfterError(lane, model);
    }
    assertArrayEquals(model.here, lane.here.bytes());
    assertArrayEquals(model.there, lane.there.bytes());
  }

  private static void compareAfterError(Lane lane, ProgramModel model) {
    assertEquals(Syndrome.REMOTE_ACCESS, lane.qp.poll(model.failed));
    assertEquals(model.failed, lane.qp.errorTicket());
    assertTrue(model.failed == 0 || lane.qp.poll(model.failed - 1) == Status.DONE);
    assertTrue(lane.last == model.failed || lane.qp.poll(lane.last) == Syndrome.FLUSHED);
    assertEquals(QueuePairState.ERROR, lane.qp.state());
    // The peer's remaining receives may be flushed; what was reserved when the error struck may
    // never be published.
    int received = model.received.size();
    assertEquals(model.received, lane.received.subList(0, received));
    for (Done extra : lane.received.subList(received, lane.received.size())) {
      assertEquals(Syndrome.FLUSHED, extra.syndrome());
    }
    assertEquals(model.sent.subList(0, lane.sent.size()), lane.sent);
  }
}
