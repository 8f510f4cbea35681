// The extension module headrace._headrace: the C++ facade as Python objects. The package headrace
// dresses it.
#include <pybind11/pybind11.h>

#include "bindings/python/callbacks.h"
#include "bindings/python/convert.h"
#include "bindings/python/errors.h"
#include "bindings/python/event.h"
#include "bindings/python/interpreter.h"
#include "bindings/python/jobs.h"
#include "bindings/python/node.h"
#include "bindings/python/open_node.h"

PYBIND11_MODULE(_headrace, module) {
  using namespace headrace::python;
  module.attr("__version__") = HEADRACE_VERSION;
  start_interpreter_rules();
  bind_errors(module);
  bind_convert(module);
  bind_event(module);
  bind_running_job(module);
  bind_job_info(module);
  bind_jobs(module);
  bind_node(module);
  py::module_::import("atexit").attr("register")(py::cpp_function(&OpenNode::close_all));
}
