// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** JFR events: registration, connect, errors, quarantine; none per operation. */
class EventsTest {
  @Test
  void eventsTellWhatHappened(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("events.jfr");
    int failed;
    try (Recording recording = new Recording()) {
      for (String name :
          List.of(
              "MemoryRegistered", "QueuePairConnected", "QueuePairFailed", "CloseQuarantined")) {
        recording.enable("org.gpuverbs." + name).withoutThreshold();
      }
      recording.start();
      try (Pair pair = new Pair(QueuePairOptions.builder().closeTimeout(Duration.ofMillis(10)))) {
        pair.run(pair.write(0, 8));
        failed = pair.qp.number();
        assertThrows(
            RdmaException.class,
            () -> pair.run(new WorkRequest.WriteInline(1L, new RemoteMemory(8, 8, 0))));
        pair.qp.gate().enter();
        pair.qp.close();
        pair.qp.gate().exit();
      }
      recording.stop();
      recording.dump(file);
    }
    assertEquals(2, events(file, "MemoryRegistered").size());
    assertEquals(Pair.BYTES, events(file, "MemoryRegistered").getFirst().getLong("length"));
    assertEquals(2, events(file, "QueuePairConnected").size());
    assertEquals(1, events(file, "CloseQuarantined").size());
    List<RecordedEvent> failures =
        events(file, "QueuePairFailed").stream()
            .filter(event -> event.getInt("number") == failed)
            .toList();
    assertEquals(1, failures.size());
    assertEquals(Syndrome.REMOTE_ACCESS, failures.getFirst().getInt("syndrome"));
    assertEquals(1, failures.getFirst().getLong("index"));
    Files.delete(file);
  }

  private static List<RecordedEvent> events(Path file, String name) throws IOException {
    return RecordingFile.readAllEvents(file).stream()
        .filter(event -> event.getEventType().getName().equals("org.gpuverbs." + name))
        .toList();
  }
}
