// A thread of the node's own: named, and closed to signals, which so reach the program's threads as
// if the node's were not there.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "core/base/error.h"

namespace headrace::runtime {

// `name` is cut to the 15 bytes that Linux shows. kFull if the system gives no more threads.
Result<std::thread> start_thread(const std::string& name, std::function<void()> body);

}  // namespace headrace::runtime
