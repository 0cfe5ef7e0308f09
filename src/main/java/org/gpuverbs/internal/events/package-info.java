// SPDX-License-Identifier: Apache-2.0

/** JFR events: registration, connect, errors, quarantine. Never one per operation. */
@NullMarked
package org.gpuverbs.internal.events;

import org.jspecify.annotations.NullMarked;
