// JobHandle and JobInfo.
#include "bindings/python/convert.h"
#include "bindings/python/errors.h"
#include "bindings/python/jobs.h"

namespace headrace::python {

namespace {

// In a child made by fork the C++ handle is the parent's: neither used nor freed.
struct HandleObject {
  explicit HandleObject(JobHandle job)
      : forked(forks()), handle(std::make_unique<JobHandle>(std::move(job))) {}
  ~HandleObject() {
    if (forked != forks()) static_cast<void>(handle.release());
  }
  HandleObject(const HandleObject&) = delete;
  HandleObject& operator=(const HandleObject&) = delete;

  const JobHandle& get() const {
    if (forked != forks()) raise_forked();
    return *handle;
  }

  unsigned forked;
  std::unique_ptr<JobHandle> handle;
};

py::object time_or_none(const std::optional<WallTime>& time) {
  return time ? from_time(*time) : py::none();
}

py::object info_of(const HandleObject& object, const py::object& timeout) {
  const auto& handle = object.get();
  const auto wait = to_millis(timeout, "timeout");
  return to_job_info(waiting([&] { return handle.info(wait); }));
}

py::object result_of(const HandleObject& object, const py::object& timeout) {
  const auto& handle = object.get();
  const auto wait = to_millis_or_none(timeout, "timeout");
  return from_value(waiting([&] { return handle.result(wait); }));
}

void bind_handle(py::module_& module) {
  py::class_<HandleObject>(module, "JobHandle", "A job that was added.")
      .def_property_readonly("id", [](const HandleObject& job) { return job.handle->id().hex(); })
      .def_property_readonly(
          "level",
          [](const HandleObject& job) { return std::string(to_string(job.handle->level())); },
          "'disk', 'os' or 'memory': how safe it was when the add was acknowledged.")
      .def("info", info_of, py::arg("timeout") = 5.0, "The job as its owner has it now.")
      .def("result", result_of, py::arg("timeout") = py::none(),
           "Waits for the job's end and returns its result. JobFailed names the state it ended in "
           "and the reason; Timeout. None: waits for ever.")
      .def("__repr__", [](const HandleObject& job) {
        return "<headrace.JobHandle " + job.handle->id().hex() + " " +
               std::string(to_string(job.handle->level())) + ">";
      });
}

}  // namespace

py::object to_job_handle(JobHandle handle) {
  return py::cast(std::make_unique<HandleObject>(std::move(handle)));
}

py::object to_job_info(JobInfo info) {
  return py::cast(std::make_unique<JobInfo>(std::move(info)));
}

void bind_job_info(py::module_& module) {
  bind_handle(module);
  py::class_<JobInfo>(module, "JobInfo", "A job at one moment, as its owner had it.")
      .def_property_readonly("id", [](const JobInfo& job) { return job.id.hex(); })
      .def_property_readonly("topic", [](const JobInfo& job) { return from_text(job.topic); })
      .def_property_readonly("queue", [](const JobInfo& job) { return from_text(job.queue); })
      .def_property_readonly("state", [](const JobInfo& job) { return to_string(job.state); })
      .def_property_readonly("level", [](const JobInfo& job) { return to_string(job.level); })
      .def_readonly("priority", &JobInfo::priority)
      .def_readonly("attempt", &JobInfo::attempt)
      .def_readonly("max_attempts", &JobInfo::max_attempts)
      .def_readonly("deliveries", &JobInfo::deliveries)
      .def_property_readonly("owner", [](const JobInfo& job) { return job.owner.hex(); })
      .def_property_readonly("consumer",
                             [](const JobInfo& job) -> py::object {
                               if (!job.consumer) return py::none();
                               return from_text(job.consumer->hex());
                             })
      .def_property_readonly("added", [](const JobInfo& job) { return from_time(job.added); })
      .def_property_readonly("not_before",
                             [](const JobInfo& job) { return time_or_none(job.not_before); })
      .def_property_readonly("started",
                             [](const JobInfo& job) { return time_or_none(job.started); })
      .def_property_readonly("finished",
                             [](const JobInfo& job) { return time_or_none(job.finished); })
      .def_property_readonly(
          "result",
          [](const JobInfo& job) { return job.result ? from_value(*job.result) : py::none(); })
      .def_property_readonly("error", [](const JobInfo& job) { return from_text(job.error); })
      .def_property_readonly("errors",
                             [](const JobInfo& job) {
                               py::list errors;
                               for (const auto& error : job.errors) errors.append(from_text(error));
                               return errors;
                             })
      .def("__repr__", [](const JobInfo& job) {
        return "<headrace.JobInfo " + job.id.hex() + " '" + job.topic + "' " +
               std::string(to_string(job.state)) + ">";
      });
}

}  // namespace headrace::python
