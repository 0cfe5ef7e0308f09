// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.bench.report;

import org.knowm.xchart.internal.chartpart.Chart;

/**
 * One plot.
 *
 * @param id file name and anchor
 * @param chart what is drawn
 * @param caption how to read it, and the noise
 */
record Figure(String id, Chart<?, ?> chart, String caption) {}
