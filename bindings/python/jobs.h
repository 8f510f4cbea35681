// The classes Jobs, JobHandle and JobInfo.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "bindings/python/open_node.h"
#include "nodes/node.h"

namespace headrace::python {

namespace py = pybind11;

// node.jobs
struct JobsObject {
  std::shared_ptr<OpenNode> node;
};

void bind_jobs(py::module_& module);
void bind_job_info(py::module_& module);  // JobHandle and JobInfo
py::object to_job_handle(JobHandle handle);
py::object to_job_info(JobInfo info);

JobId to_job_id(py::handle object);

}  // namespace headrace::python
