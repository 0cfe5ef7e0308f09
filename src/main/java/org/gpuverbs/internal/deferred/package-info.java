// SPDX-License-Identifier: Apache-2.0

/**
 * Sends that wait for device work: the queue, its slots and tickets, and the lines of recorded
 * events. Knows neither queue pairs nor CUDA; both come in through {@link
 * org.gpuverbs.internal.deferred.Outlet} and {@link org.gpuverbs.internal.deferred.DeviceEvents}.
 */
@NullMarked
package org.gpuverbs.internal.deferred;

import org.jspecify.annotations.NullMarked;
