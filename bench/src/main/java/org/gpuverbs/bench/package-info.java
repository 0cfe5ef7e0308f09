// SPDX-License-Identifier: Apache-2.0

/**
 * The JMH suites, and the commands that {@code java -jar benchmarks.jar} takes besides JMH's own
 * options.
 *
 * <p>In all suites an operation is one batch, so that ns/op divided by the batch's size is ns a
 * request, and B/op is what one submit allocates.
 */
package org.gpuverbs.bench;
