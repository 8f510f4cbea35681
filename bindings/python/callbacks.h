// Python functions as the callbacks of a node, and the class RunningJob that a handler gets.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <memory>

#include "bindings/python/interpreter.h"
#include "nodes/node.h"

namespace headrace::python {

namespace py = pybind11;

void bind_running_job(py::module_& module);

// What it raises goes to sys.unraisablehook, and is counted by the node.
std::function<void(const Event&)> event_callback(std::shared_ptr<Kept> function);

// Its return value is the job's result; what it raises fails the attempt, unless it is Cancel or
// Retry (see headrace/_outcome.py).
std::function<JobOutcome(RunningJob&)> job_handler(std::shared_ptr<Kept> function);

// Settles a concurrent.futures.Future.
std::function<void(Result<JobHandle>)> future_settler(const py::object& future);

}  // namespace headrace::python
