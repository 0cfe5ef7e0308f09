// SPDX-License-Identifier: Apache-2.0
package org.gpuverbs.internal.deferred;

import org.jspecify.annotations.Nullable;

/** A destination that a test moves about. */
final class FakePort extends Port {
  @Nullable FakeOutlet outlet;

  FakePort(@Nullable FakeOutlet outlet) {
    this.outlet = outlet;
  }

  @Override
  protected @Nullable Outlet resolve() {
    return outlet;
  }
}
