// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.perf;

import com.google.gson.Gson;
import com.google.gson.JsonSyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * What the client asks of the server before anything runs.
 *
 * @param version of this record
 * @param test what is measured
 * @param sizes bytes a message, one row each
 * @param queuePairs how many
 * @param depth send queue depth and receives kept posted
 * @param validate whether payloads are compared
 */
record Plan(
    int version, PerfTest test, List<Integer> sizes, int queuePairs, int depth, boolean validate) {
  static final int VERSION = 1;

  byte[] toBytes() {
    return new Gson().toJson(this).getBytes(StandardCharsets.UTF_8);
  }

  static Plan fromBytes(byte[] bytes) {
    try {
      Plan plan = new Gson().fromJson(new String(bytes, StandardCharsets.UTF_8), Plan.class);
      if (plan != null
          && plan.version == VERSION
          && plan.test != null
          && plan.sizes != null
          && !plan.sizes.isEmpty()
          && plan.sizes.stream().allMatch(size -> size != null && size >= 0 && size <= Sizes.MAX)
          && plan.queuePairs >= 1
          && plan.queuePairs <= PerfOptions.MAX_QUEUE_PAIRS) {
        return plan;
      }
    } catch (JsonSyntaxException e) {
      // Said below.
    }
    throw new PerfException("the other side is not perf of this version: run the same on both");
  }

  int largest() {
    return sizes.stream().mapToInt(Integer::intValue).max().orElse(0);
  }
}
