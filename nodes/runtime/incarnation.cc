#include "nodes/runtime/incarnation.h"

#include <algorithm>

#include "core/store/meta.h"

namespace headrace::runtime {

Incarnation begin_incarnation(WallTime now, Incarnation above) {
  return meta::next_incarnation(above, now);
}

Result<Incarnation> begin_incarnation(Store& store, WallTime now, Incarnation above) {
  Result<Incarnation> last;
  {
    const auto snapshot = store.snapshot();
    if (!snapshot) return fail(snapshot.error());
    last = meta::last_incarnation(**snapshot);
  }
  if (!last) return last;
  const auto incarnation = meta::next_incarnation(std::max(*last, above), now);
  WriteBatch batch;
  meta::set_last_incarnation(batch, incarnation);
  if (auto written = store.write(batch, true); !written) return fail(written.error());
  return incarnation;
}

}  // namespace headrace::runtime
