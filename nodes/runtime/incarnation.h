// What this start of the node is called: above every earlier start, as far as anybody can know.
#pragma once

#include "core/base/error.h"
#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/store/store.h"

namespace headrace::runtime {

// Above the last one that `store` knows and above `above`, and on disk when it returns. kStore.
Result<Incarnation> begin_incarnation(Store& store, WallTime now, Incarnation above = 0);
// Of a node that keeps nothing: the milliseconds of the wall clock.
Incarnation begin_incarnation(WallTime now, Incarnation above = 0);

}  // namespace headrace::runtime
