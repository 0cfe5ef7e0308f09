// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ArgumentsTest {
  private static Arguments parse(String... words) throws UsageException {
    return Arguments.parse(List.of(words), Set.of("--json"), Set.of("--qps"));
  }

  private static String error(String... words) {
    return assertThrows(UsageException.class, () -> parse(words)).getMessage();
  }

  @Test
  void optionsAndTheRestAreToldApart() throws Exception {
    Arguments arguments = parse("--qps", "3", "file", "--json");
    assertEquals("3", arguments.value("--qps"));
    assertTrue(arguments.has("--json"));
    assertEquals(List.of("file"), arguments.rest());
  }

  @Test
  void anEqualsSignGivesAValueToo() throws Exception {
    assertEquals("3", parse("--qps=3").value("--qps"));
  }

  @Test
  void whatFollowsTwoDashesIsNoOption() throws Exception {
    Arguments arguments = parse("--", "--json");
    assertFalse(arguments.has("--json"));
    assertEquals(List.of("--json"), arguments.rest());
  }

  @Test
  void anOptionNotGivenIsNull() throws Exception {
    assertNull(parse().value("--qps"));
  }

  @Test
  void mistakesAreNamed() {
    assertEquals("unknown option --jason", error("--jason"));
    assertEquals("--qps needs a value", error("--qps"));
    assertEquals("--json takes no value", error("--json=1"));
    assertEquals("--qps is given twice", error("--qps", "1", "--qps", "2"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "65", "four", "", "99999999999"})
  void aNumberOutOfRangeIsRefusedWithTheRange(String text) {
    var e =
        assertThrows(UsageException.class, () -> parse("--qps", text).number("--qps", 4, 1, 64));
    assertTrue(e.getMessage().endsWith("use a whole number in 1..64"), e.getMessage());
  }

  @ParameterizedTest
  @CsvSource({
    "4096,4096",
    "64k,65536",
    "64K,65536",
    "256M,268435456",
    "1MiB,1048576",
    "1gb,1073741824"
  })
  void bytesTakeSuffixes(String text, long bytes) throws Exception {
    assertEquals(bytes, parse("--qps", text).bytes("--qps", 1, 1, 1L << 40));
  }

  @ParameterizedTest
  @ValueSource(strings = {"3000", "2K", "1G", "-4096", "lots", "4096.5", "9999999999999999T"})
  void bytesThatAreNoPowerOfTwoInRangeAreRefused(String text) {
    var e =
        assertThrows(
            UsageException.class,
            () -> parse("--qps=" + text).bytes("--qps", 65536, 4096, 1 << 20));
    assertTrue(e.getMessage().contains("power of two in 4 KiB..1 MiB"), e.getMessage());
  }
}
