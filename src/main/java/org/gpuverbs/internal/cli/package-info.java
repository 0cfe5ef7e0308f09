// SPDX-License-Identifier: Apache-2.0

/**
 * The commands of the jar: info and demo. Arguments are parsed by hand, since the library has no
 * dependency.
 */
@NullMarked
package org.gpuverbs.internal.cli;

import org.jspecify.annotations.NullMarked;
