// The class RunningJob: what a handler gets.
#pragma once

#include <pybind11/pybind11.h>

#include "nodes/node.h"

namespace headrace::python {

namespace py = pybind11;

// Makes the Python object for a run, and cuts it off when the run is over. With the GIL.
class RunningJobObject final {
 public:
  explicit RunningJobObject(RunningJob& job);
  ~RunningJobObject();
  RunningJobObject(const RunningJobObject&) = delete;
  RunningJobObject& operator=(const RunningJobObject&) = delete;
  const py::object& get() const { return object_; }

 private:
  py::object object_;
};

}  // namespace headrace::python
