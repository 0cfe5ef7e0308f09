// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.doctor;

import static org.gpuverbs.Finding.Verdict.FOUND;
import static org.gpuverbs.Finding.Verdict.MISSING;
import static org.gpuverbs.Finding.Verdict.NOTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.gpuverbs.Finding;
import org.gpuverbs.PathDetails.Doorbell;
import org.gpuverbs.RdmaException;
import org.gpuverbs.internal.shim.DirectCalls;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On trees of files as a kernel would show them, whole ones and ones with one defect. */
class ExaminationTest {
  private static final String PORT = "mlx5_0 port 1";

  @TempDir Path root;
  private Tree tree;

  @BeforeEach
  void plant() {
    tree = new Tree(root);
  }

  private void expect(Finding.Verdict verdict, String topic, String subject, String found) {
    Finding finding = tree.finding(topic, subject);
    assertEquals(verdict, finding.verdict(), finding.toString());
    assertTrue(finding.found().contains(found), finding.toString());
    if (verdict == MISSING) {
      assertFalse(finding.fix().isEmpty(), finding.toString());
    }
  }

  @Test
  void aMachineWithNothingMissesTheDeviceAndTheLibrary() {
    tree.withoutLibraries();
    expect(MISSING, "libibverbs", "", "libibverbs.so.1");
    expect(MISSING, "RDMA device", "", "no RDMA stack");
    expect(NOTE, "GPU", "", "none");
  }

  @Test
  void softRoceMissesNothing() {
    tree.softRoce(4200);
    assertEquals(
        List.of(), tree.findings().stream().filter(each -> each.verdict() == MISSING).toList());
    expect(NOTE, "device", "rxe0", "PROXY and not DIRECT");
    expect(FOUND, "GID", "rxe0 port 1", "index 1, RoCE v2, 10.77.0.1");
    expect(FOUND, "MTU", "rxe0 port 1", "4096");
  }

  @Test
  void aConnectXBesideAGpuIsAsItShouldBe() {
    tree.connectX();
    assertEquals(
        List.of(),
        tree.findings().stream()
            .filter(each -> each.verdict() != FOUND && !each.subject().contains("rxe0"))
            .toList());
    expect(FOUND, "GID", PORT, "index 3");
    expect(FOUND, "distance", "mlx5_0 - GPU 0000:03:00.0", "same PCI switch");
    expect(FOUND, "GPU memory", "", "dma-buf");
  }

  private Tree direct(int atomics, Doorbell doorbell, boolean dmaBuf) {
    DirectCalls.Info info = new DirectCalls.Info(32768, 956, 4096, atomics, 0, dmaBuf);
    return tree.connectX().says(DirectAnswer.of(new DirectAnswer.Offer(info, doorbell)));
  }

  @Test
  void aConnectXThatOffersAllOfDirectIsAsItShouldBe() {
    direct(DirectCalls.Info.HOST_ORDER, Doorbell.DEDICATED, true);
    expect(FOUND, "DIRECT", "mlx5_0", "queues of 32768 basic blocks, 956 bytes inline");
    expect(FOUND, "UAR", "mlx5_0", "one a queue pair");
    expect(FOUND, "atomics", "mlx5_0", "host's byte order");
    expect(FOUND, "dma-buf", "mlx5_0", "register");
  }

  @Test
  void whatDirectHasLessOfIsNoted() {
    direct(DirectCalls.Info.NETWORK_ORDER, Doorbell.BLUEFLAME, false);
    expect(NOTE, "UAR", "mlx5_0", "write-combining");
    expect(NOTE, "atomics", "mlx5_0", "network byte order only");
    expect(NOTE, "dma-buf", "mlx5_0", "nvidia-peermem");
  }

  @Test
  void noDedicatedPagesAndNoAtomicsAreNoted() {
    direct(0, Doorbell.NON_CACHED, true);
    expect(NOTE, "UAR", "mlx5_0", "no dedicated pages");
    expect(NOTE, "atomics", "mlx5_0", "none");
  }

  @Test
  void aRefusalOfDirectIsMissingWithItsFix() {
    RdmaException why =
        new RdmaException("no", 0, 1, 0, "mlx5_0 has no DEVX: give the container SYS_RAWIO", null);
    tree.connectX().says(DirectAnswer.of(why));
    expect(MISSING, "DIRECT", "mlx5_0", "mlx5_0 has no DEVX (errno 1)");
    assertEquals("give the container SYS_RAWIO", tree.finding("DIRECT", "mlx5_0").fix());
  }

  @Test
  void anInterfaceOf1500BytesLimitsTheMtu() {
    tree.softRoce(1500);
    expect(NOTE, "MTU", "rxe0 port 1", "1024 bytes a packet");
    assertTrue(tree.finding("MTU", "rxe0 port 1").fix().contains("mtu 4192"));
  }

  @Test
  void aPortThatIsDownIsMissing() {
    tree.connectX().port("mlx5_0", "1: DOWN", "Ethernet");
    expect(MISSING, "port", PORT, "DOWN");
  }

  @Test
  void anInfinibandPortWithoutSubnetManagerAsksForOne() {
    tree.connectX().port("mlx5_0", "2: INIT", "InfiniBand");
    assertTrue(tree.finding("port", PORT).fix().contains("opensm"));
  }

  @Test
  void anActiveInfinibandPortNeedsALid() {
    tree.connectX().port("mlx5_0", "4: ACTIVE", "InfiniBand");
    expect(MISSING, "LID", PORT, "none");
  }

  @Test
  void aPortWithRoceVersion1OnlyHasNoGid() {
    tree.connectX().gid("mlx5_0", 3, "0000:0000:0000:0000:0000:ffff:0a4d:0002", "IB/RoCE v1");
    expect(MISSING, "GID", PORT, "RoCE v1 only");
  }

  @Test
  void aPortWithoutAnAddressHasAnEmptyTable() {
    tree.connectX().remove("sys/class/infiniband/mlx5_0/ports/1/gids/0");
    tree.remove("sys/class/infiniband/mlx5_0/ports/1/gids/3");
    expect(MISSING, "GID", PORT, "empty");
  }

  @Test
  void aLinkLocalGidIsChosenOnlyWithoutAnother() {
    tree.connectX().remove("sys/class/infiniband/mlx5_0/ports/1/gids/3");
    tree.gid("mlx5_0", 0, "fe80:0000:0000:0000:0202:03ff:fe04:0507", "RoCE v2");
    expect(NOTE, "GID", PORT, "this network segment only");
  }

  @Test
  void iWarpIsRefusedWithTheReason() {
    tree.softRoce(4200).put("sys/class/infiniband/rxe0/node_type", "4: RNIC");
    expect(MISSING, "device", "rxe0", "no reliable connections");
    assertTrue(tree.finding("device", "rxe0").fix().contains("rdma_cm"));
  }

  @Test
  void aContainerWithoutTheDeviceFilesIsToldTheOption() {
    tree.softRoce(4200).remove("dev/infiniband/uverbs0").put(".dockerenv", "");
    expect(MISSING, "uverbs", "", "no /dev/infiniband/uverbs*");
    assertTrue(tree.finding("uverbs", "").fix().contains("--device=/dev/infiniband"));
  }

  @Test
  void aContainerWithoutPrivilegesCannotMapDoorbells() {
    tree.connectX().put(".dockerenv", "").put("proc/self/status", "CapEff:\t00000000a80425fb");
    expect(NOTE, "container", "", "DEVX");
    assertTrue(tree.finding("container", "").fix().contains("--privileged"));
  }

  @Test
  void littleLockedMemoryIsNoted() {
    tree.softRoce(4200)
        .put("proc/self/limits", "Max locked memory         65536      65536     bytes");
    expect(NOTE, "locked memory", "", "64 KiB");
  }

  @Test
  void withoutPeermemAndDmaBufGpuMemoryCannotBeRegistered() {
    tree.connectX().put("proc/driver/nvidia/version", Tree.proprietaryModules(570));
    expect(MISSING, "GPU memory", "", "neither");
  }

  @Test
  void peermemIsEnough() {
    tree.connectX().put("proc/driver/nvidia/version", Tree.proprietaryModules(470));
    tree.put("sys/module/nvidia_peermem/version", "470");
    expect(FOUND, "GPU memory", "", "nvidia-peermem");
  }

  @Test
  void withoutTheMappingOverrideTheDoorbellMayBeRefused() {
    tree.connectX().put("proc/driver/nvidia/params", "RegistryDwords: \"\"");
    expect(NOTE, "doorbell mapping", "", "800");
  }

  @Test
  void aGpuWithoutDriverIsMissing() {
    tree.connectX().remove("proc/driver/nvidia/version");
    expect(MISSING, "GPU", "", "no driver");
  }

  @Test
  void mlx5WithoutItsLibraryIsMissingIt() {
    tree.connectX().withoutLibraries().library("libibverbs.so.1");
    expect(MISSING, "libmlx5", "", "libmlx5.so.1");
  }

  @Test
  void aGpuOnTheOtherSocketIsFar() {
    String far = "sys/devices/pci0000:80/0000:80:01.0/0000:81:00.0";
    tree.connectX().put(far + "/vendor", "0x10de").put(far + "/class", "0x030200");
    tree.put(far + "/numa_node", "1").link("sys/bus/pci/devices/0000:81:00.0", far);
    expect(NOTE, "distance", "mlx5_0 - GPU 0000:81:00.0", "across CPU sockets");
  }

  @Test
  void aBridgeThatRedirectsIsNamed() {
    tree.connectX().put(Tree.SWITCH + "/config", Tree.config(0x1d));
    expect(NOTE, "ACS", "mlx5_0", "0000:01:00.0");
  }

  @Test
  void aBridgeWithAcsOffIsFine() {
    tree.connectX().put(Tree.SWITCH + "/config", Tree.config(0));
    expect(FOUND, "ACS", "mlx5_0", "no bridge");
  }
}
