// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.model;

import java.util.List;
import java.util.Map;

/**
 * One path of one thread: the events in program order, for one guess of each value read, and the
 * final registers.
 */
record Trace(List<Event> events, Map<String, Long> registers) {}
