// SPDX-License-Identifier: Apache-2.0

/** Results of JMH, perf and the GPU harness made into one page with plots. */
package org.gpuverbs.bench.report;
