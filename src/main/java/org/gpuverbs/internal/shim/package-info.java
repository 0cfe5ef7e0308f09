// SPDX-License-Identifier: Apache-2.0

/** Finds, loads and calls libgpuverbs.so. All restricted methods are called from here. */
@NullMarked
package org.gpuverbs.internal.shim;

import org.jspecify.annotations.NullMarked;
