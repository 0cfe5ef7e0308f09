// SPDX-License-Identifier: Apache-2.0

/** The perf command: perftest's tests, options and columns, between queue pairs of this library. */
package org.gpuverbs.bench.perf;
