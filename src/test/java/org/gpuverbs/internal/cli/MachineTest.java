// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On a tree of files as a kernel would show them. */
class MachineTest {
  @TempDir Path root;
  private Machine machine;

  @BeforeEach
  void open() {
    machine = new Machine(root, "");
  }

  private void put(String file, String text) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }

  @Test
  void anEmptyMachineHasNothing() {
    assertEquals(Optional.empty(), machine.lockedMemory());
    assertEquals(Optional.empty(), machine.nvidiaDriver());
    assertEquals(Optional.empty(), machine.container());
    assertEquals(Optional.empty(), machine.memoryLimit());
    assertEquals(Optional.empty(), machine.library("libcuda.so.1"));
    assertEquals(List.of(), machine.rdmaDevices());
    assertEquals(List.of(), machine.gpus());
    assertFalse(machine.hasVerbsFiles());
  }

  @Test
  void theSoftLimitOfLockedMemoryIsTaken() throws Exception {
    put(
        "proc/self/limits",
        """
        Limit                     Soft Limit           Hard Limit           Units
        Max processes             95832                95832                processes
        Max locked memory         8388608              unlimited            bytes
        """);
    assertEquals(Optional.of("8388608"), machine.lockedMemory());
  }

  @Test
  void thePeakOfResidentMemoryIsInBytes() throws Exception {
    put("proc/self/status", "VmPeak:\t 10 kB\nVmHWM:\t  204800 kB\nVmRSS:\t 5 kB\n");
    assertEquals(Optional.of(200L << 20), machine.peakResident());
  }

  @Test
  void theDriversVersionIsFoundInBothOfItsForms() throws Exception {
    put(
        "proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.161.08  Sat Feb 24 17:00:00 UTC 2024\n");
    assertEquals(Optional.of("535.161.08"), machine.nvidiaDriver());
    put(
        "proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (x@y)\n");
    assertEquals(Optional.of("580.65.06"), machine.nvidiaDriver());
  }

  @Test
  void gpusAreNamedByModel() throws Exception {
    put("proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t NVIDIA H200\nIRQ: 7\n");
    assertEquals(List.of("NVIDIA H200"), machine.gpus());
  }

  @Test
  void librariesAreFoundInTheLibraryPathFirst() throws Exception {
    put("usr/lib/x86_64-linux-gnu/libcuda.so.1", "");
    put("opt/cuda/libcuda.so.1", "");
    Path first = root.resolve("opt/cuda");
    assertEquals(
        Optional.of(first.resolve("libcuda.so.1")),
        new Machine(root, "::" + first).library("libcuda.so.1"));
    assertEquals(
        Optional.of(root.resolve("usr/lib/x86_64-linux-gnu/libcuda.so.1")),
        machine.library("libcuda.so.1"));
  }

  @Test
  void containersAreRecognised() throws Exception {
    put("proc/self/cgroup", "0::/kubepods/besteffort/pod1/x\n");
    assertEquals(Optional.of("kubepods"), machine.container());
    put("run/.containerenv", "");
    assertEquals(Optional.of("podman"), machine.container());
    put(".dockerenv", "");
    assertEquals(Optional.of("docker"), machine.container());
  }

  @Test
  void anUnlimitedContainerHasNoMemoryLimit() throws Exception {
    put("sys/fs/cgroup/memory.max", "max\n");
    assertEquals(Optional.empty(), machine.memoryLimit());
    put("sys/fs/cgroup/memory.max", "1073741824\n");
    assertEquals(Optional.of(1L << 30), machine.memoryLimit());
  }

  @Test
  void verbsDevicesWithoutTheirFilesAreSeen() throws Exception {
    Files.createDirectories(root.resolve("sys/class/infiniband/mlx5_0"));
    assertEquals(List.of("mlx5_0"), machine.rdmaDevices());
    assertFalse(machine.hasVerbsFiles());
    put("dev/infiniband/uverbs0", "");
    assertTrue(machine.hasVerbsFiles());
  }
}
