// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Receivers in the same JVM. */
@Timeout(60)
class LocalInboxTest {
  private final ManualStream stream = new ManualStream("0");
  private final DeferredSender sender = DeferredSender.builder().executor(Runnable::run).build();

  @AfterEach
  void close() {
    sender.close(Duration.ZERO);
    assertEquals(0, stream.pool.inUse());
  }

  private LocalMessage taken(LocalInbox inbox) {
    LocalMessage message = inbox.poll();
    assertNotNull(message);
    return message;
  }

  @Test
  void theReceiverReadsInPlaceWhatATaskHasWritten() {
    try (Arena arena = Arena.ofShared();
        HostStream device = HostStream.create("device");
        LocalInbox inbox = LocalInbox.ofReady(4)) {
      MemorySegment data = arena.allocate(64);
      LocalChannel channel = sender.channel(7, inbox);
      device.enqueue(() -> data.set(ValueLayout.JAVA_LONG, 0, 42));
      channel.send(data.address(), 64, 5, SendOrder.ORDERED, device);
      Await.until(
          () -> {
            sender.doWork();
            return inbox.size() > 0;
          });
      try (LocalMessage message = taken(inbox)) {
        assertEquals(data.address(), message.address());
        assertEquals(64, message.length());
        assertEquals(5, message.tag());
        assertEquals(7, message.source());
        assertEquals(Status.DONE, message.poll());
        assertEquals(42, data.get(ValueLayout.JAVA_LONG, 0));
      }
    }
  }

  @Test
  void aReadyInboxGetsTheMessageWhenTheDataIsThere() {
    try (LocalInbox inbox = LocalInbox.ofReady(4)) {
      LocalChannel channel = sender.channel(1, inbox);
      channel.send(0x1000, 8, 1, SendOrder.ORDERED, stream.work());
      channel.send(0x2000, 8, 2, SendOrder.ORDERED);
      sender.doWork();
      assertNull(inbox.poll());
      stream.complete();
      sender.doWork();
      assertEquals(1, taken(inbox).tag());
      assertEquals(2, taken(inbox).tag());
    }
  }

  @Test
  void anAnnouncedMessageComesAtOnceAndTellsWhenItsDataIsThere() {
    try (LocalInbox inbox = LocalInbox.ofAnnounced(4)) {
      LocalChannel channel = sender.channel(1, inbox);
      channel.send(0x1000, 8, 1, SendOrder.ORDERED, stream.work());
      try (LocalMessage message = taken(inbox)) {
        assertEquals(Status.PENDING, message.poll());
        stream.complete();
        assertEquals(Status.DONE, message.poll());
      }
    }
  }

  @Test
  void anAnnouncedMessageTellsOfADeviceError() {
    try (LocalInbox inbox = LocalInbox.ofAnnounced(4)) {
      sender.channel(1, inbox).send(0x1000, 8, 1, SendOrder.ORDERED, stream.work());
      stream.fail();
      try (LocalMessage message = taken(inbox)) {
        assertEquals(Status.DEVICE_ERROR, message.poll());
      }
    }
  }

  @Test
  void theSourceIsReusableWhenTheReceiverHasClosedTheMessage() {
    try (LocalInbox inbox = LocalInbox.ofReady(4)) {
      DeferredSend send = sender.channel(1, inbox).sendAsync(0, 8, 1, SendOrder.ORDERED, null);
      assertTrue(Failures.done(send.delivered()));
      assertFalse(Failures.done(send.sourceReusable()));
      assertEquals(1, sender.pending());
      LocalMessage message = taken(inbox);
      message.close();
      message.close();
      assertThrows(IllegalStateException.class, message::poll);
      sender.doWork();
      assertTrue(Failures.done(send.sourceReusable()));
      assertEquals(0, sender.pending());
      assertEquals(SendState.DELIVERED, send.state());
    }
  }

  @Test
  void aFullInboxMakesSendsWaitAndKeepsTheirOrder() {
    try (LocalInbox inbox = LocalInbox.ofReady(2)) {
      LocalChannel channel = sender.channel(1, inbox);
      for (int i = 0; i < 5; i++) {
        assertTrue(channel.send(0, 8, i, SendOrder.ORDERED) >= 0);
      }
      for (int i = 0; i < 5; i++) {
        sender.doWork();
        assertTrue(inbox.size() <= 2);
        try (LocalMessage message = taken(inbox)) {
          assertEquals(i, message.tag());
        }
      }
    }
  }

  @Test
  void closingTheInboxReturnsItsMessagesAndFailsFurtherSends() {
    LocalInbox inbox = LocalInbox.ofAnnounced(4);
    LocalChannel channel = sender.channel(1, inbox);
    DeferredSend first = channel.sendAsync(0, 8, 1, SendOrder.ORDERED, stream.work());
    inbox.close();
    sender.doWork();
    assertTrue(Failures.done(first.sourceReusable()));
    assertEquals(Status.CLOSED, channel.send(0, 8, 2, SendOrder.ORDERED, stream));
  }

  @Test
  void aMessageOutlivesItsSender() {
    try (LocalInbox inbox = LocalInbox.ofAnnounced(4)) {
      DeferredSend send =
          sender.channel(1, inbox).sendAsync(0, 8, 1, SendOrder.ORDERED, stream.work());
      sender.close(Duration.ZERO);
      assertEquals(Status.CLOSED, Failures.of(send.sourceReusable()).code());
      try (LocalMessage message = taken(inbox)) {
        assertEquals(Status.PENDING, message.poll());
      }
    }
  }

  @Test
  void aCancelledAnnouncementGivesItsEventBack() {
    try (LocalInbox inbox = LocalInbox.ofAnnounced(1)) {
      LocalChannel channel = sender.channel(1, inbox);
      channel.send(0, 8, 1, SendOrder.ORDERED);
      long ticket = channel.send(0, 8, 2, SendOrder.ORDERED, stream.work());
      assertTrue(sender.cancel(ticket));
      sender.doWork();
      assertEquals(0, stream.pool.inUse());
    }
  }
}
