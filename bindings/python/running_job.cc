#include "bindings/python/running_job.h"

#include <memory>

#include "bindings/python/callbacks.h"
#include "bindings/python/convert.h"
#include "bindings/python/errors.h"

namespace headrace::python {

namespace {

struct Run {
  explicit Run(RunningJob& job)
      : live(&job),
        hold(job.hold()),
        id(job.id()),
        topic(job.topic()),
        payload(job.payload()),
        attempt(job.attempt()),
        deliveries(job.deliveries()) {}

  RunningJob* live;  // null once the handler has returned
  std::shared_ptr<const void> hold;
  JobId id;
  std::string_view topic;  // in what `hold` keeps
  BytesView payload;
  unsigned attempt, deliveries;
  py::object params{};  // null until somebody asks
};

py::object params_of(Run& run) {
  if (!run.params) {
    if (run.live == nullptr) {
      raise({Code::kClosed, "the handler has returned; read `params` while it runs"});
    }
    run.params = from_params(run.live->params());
  }
  return run.params;
}

// Holds the job, and with it the bytes, for as long as anybody looks at them.
py::object payload_of(const py::object& self) {
  auto* view = PyMemoryView_FromObject(self.ptr());
  if (view == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(view);
}

py::buffer_info buffer_of(Run& run) {
  return {const_cast<char*>(run.payload.data()),          1,   "B", 1,
          {static_cast<py::ssize_t>(run.payload.size())}, {1}, true};
}

std::string repr(const Run& run) {
  return "<headrace.RunningJob " + run.id.hex() + " '" + std::string(run.topic) + "' attempt " +
         std::to_string(run.attempt) + ">";
}

}  // namespace

RunningJobObject::RunningJobObject(RunningJob& job)
    : object_(py::cast(std::make_unique<Run>(job))) {}

RunningJobObject::~RunningJobObject() { object_.cast<Run&>().live = nullptr; }

void bind_running_job(py::module_& module) {
  py::class_<Run>(module, "RunningJob", py::buffer_protocol(),
                  "What a handler gets: one attempt at a job. Its fields may be read after the "
                  "handler has returned (`params` if they were read before).")
      .def_buffer(buffer_of)
      .def_property_readonly("id", [](const Run& run) { return run.id.hex(); })
      .def_property_readonly("topic", [](const Run& run) { return from_text(run.topic); })
      .def_property_readonly("params", params_of)
      .def_property_readonly("payload", payload_of,
                             "A read-only memoryview over the bytes as they came: no copy, and "
                             "they stay as long as the view does.")
      .def_property_readonly("attempt", [](const Run& run) { return run.attempt; })
      .def_property_readonly("deliveries", [](const Run& run) { return run.deliveries; })
      .def_property_readonly(
          "stopping", [](const Run& run) { return run.live == nullptr || run.live->stopping(); },
          "True once its result will not count any more, or its node is closing: end soon.")
      .def("__repr__", repr);
}

}  // namespace headrace::python
