#include "bindings/python/jobs.h"

#include <array>
#include <string>
#include <vector>

#include "bindings/python/callbacks.h"
#include "bindings/python/convert.h"
#include "bindings/python/errors.h"
#include "core/base/limits.h"

namespace headrace::python {

namespace {

JobSpec to_spec(py::handle topic, py::handle params, py::handle payload, py::handle priority,
                py::handle not_before, py::handle max_attempts, py::handle level, py::handle id) {
  JobSpec spec;
  spec.topic = to_text(topic, "topic");
  spec.params = to_params(params);
  spec.payload = Bytes(Buffer(payload).view());
  spec.priority = to_int(priority, "priority", 0, 9);
  if (!not_before.is_none()) spec.not_before = to_time(not_before, "not_before");
  spec.max_attempts = static_cast<unsigned>(
      to_int(max_attempts, "max_attempts", 1, static_cast<int>(limits::kAttempts)));
  spec.level = take(parse_level(to_text(level, "level")));
  if (!id.is_none()) spec.id = to_job_id(id);
  return spec;
}

// One of add_many: a dict of what add() takes.
JobSpec to_spec(py::handle item, std::size_t index) {
  const auto where = "job " + std::to_string(index + 1) + " of the list: ";
  if (!PyDict_Check(item.ptr())) {
    raise_invalid(where + "expected a dict of what add() takes, found " +
                  Py_TYPE(item.ptr())->tp_name);
  }
  enum { kTopic, kParams, kPayload, kPriority, kNotBefore, kMaxAttempts, kLevel, kId };
  static constexpr std::array<std::string_view, 8> kNames{
      "topic", "params", "payload", "priority", "not_before", "max_attempts", "level", "id"};
  std::array<py::object, 8> values{py::object(), py::none(),   py::bytes(),     py::int_(4),
                                   py::none(),   py::int_(10), py::str("disk"), py::none()};
  for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(item)) {
    const auto name = std::string(py::str(key));
    std::size_t at = 0;
    while (at < kNames.size() && kNames[at] != name) ++at;
    if (at == kNames.size()) raise_invalid(where + "add() takes no '" + name + "'");
    values[at] = py::reinterpret_borrow<py::object>(value);
  }
  if (!values[kTopic]) raise_invalid(where + "it has no topic");
  try {
    return to_spec(values[kTopic], values[kParams], values[kPayload], values[kPriority],
                   values[kNotBefore], values[kMaxAttempts], values[kLevel], values[kId]);
  } catch (py::error_already_set& error) {
    raise_invalid(where + std::string(py::str(error.value())));
  }
}

py::object add(const JobsObject& self, const py::object& topic, const py::object& params,
               const py::object& payload, const py::object& priority, const py::object& not_before,
               const py::object& max_attempts, const py::object& level, const py::object& id,
               const py::object& timeout) {
  auto& jobs = self.node->get().jobs();
  auto spec = to_spec(topic, params, payload, priority, not_before, max_attempts, level, id);
  const auto wait = to_millis(timeout, "timeout");
  return to_job_handle(waiting([&] { return jobs.add(std::move(spec), wait); }));
}

py::object submit(const JobsObject& self, const py::object& topic, const py::object& params,
                  const py::object& payload, const py::object& priority,
                  const py::object& not_before, const py::object& max_attempts,
                  const py::object& level, const py::object& id) {
  static auto* const future_class =
      new py::object(py::module_::import("concurrent.futures").attr("Future"));
  auto& jobs = self.node->get().jobs();
  auto spec = to_spec(topic, params, payload, priority, not_before, max_attempts, level, id);
  py::object future = (*future_class)();
  future.attr("set_running_or_notify_cancel")();  // what is under way cannot be called back
  auto done = future_settler(future);
  waiting([&] { return jobs.add_async(std::move(spec), std::move(done)); });
  return future;
}

py::list add_many(const JobsObject& self, const py::iterable& items, const py::object& timeout) {
  auto& jobs = self.node->get().jobs();
  std::vector<JobSpec> specs;
  for (const auto& item : items) specs.push_back(to_spec(item, specs.size()));
  const auto wait = to_millis(timeout, "timeout");
  auto handles = waiting([&] { return jobs.add_many(std::move(specs), wait); });
  py::list list;
  for (auto& handle : handles) list.append(to_job_handle(std::move(handle)));
  return list;
}

py::object get(const JobsObject& self, const py::object& id, const py::object& timeout) {
  const auto& jobs = self.node->get().jobs();
  const auto job = to_job_id(id);
  const auto wait = to_millis(timeout, "timeout");
  return to_job_info(waiting([&] { return jobs.get(job, wait); }));
}

py::list find(const JobsObject& self, const py::object& state, const py::object& topic,
              const py::object& limit, const py::object& timeout) {
  const auto& jobs = self.node->get().jobs();
  JobFilter filter;
  if (!state.is_none()) filter.state = take(parse_job_state(to_text(state, "state")));
  if (!topic.is_none()) filter.topic = to_text(topic, "topic");
  filter.limit =
      static_cast<std::size_t>(to_int(limit, "limit", 0, static_cast<int>(limits::kFindLimit)));
  const auto wait = to_millis(timeout, "timeout");
  auto infos = waiting([&] { return jobs.find(std::move(filter), wait); });
  py::list list;
  for (auto& info : infos) list.append(to_job_info(std::move(info)));
  return list;
}

}  // namespace

JobId to_job_id(py::handle object) { return take(JobId::parse(to_text(object, "id"))); }

void bind_jobs(py::module_& module) {
  const py::bytes nothing;
  py::class_<JobsObject>(module, "Jobs", "The durable jobs of a node. Calls from any thread.")
      .def("add", add, py::arg("topic"), py::arg("params") = py::none(),
           py::arg("payload") = nothing, py::kw_only(), py::arg("priority") = 4,
           py::arg("not_before") = py::none(), py::arg("max_attempts") = 10,
           py::arg("level") = "disk", py::arg("id") = py::none(), py::arg("timeout") = 30.0,
           "Stores a job at its owner and returns when it is as safe as `level` says. Timeout: "
           "nothing was stored. OutcomeUnknown: nobody knows; add it again with the error's id.")
      .def("submit", submit, py::arg("topic"), py::arg("params") = py::none(),
           py::arg("payload") = nothing, py::kw_only(), py::arg("priority") = 4,
           py::arg("not_before") = py::none(), py::arg("max_attempts") = 10,
           py::arg("level") = "disk", py::arg("id") = py::none(),
           "As add, but returns a concurrent.futures.Future of the JobHandle, so that many adds "
           "share one sync. Waits only while too many are pending. Not inside a callback.")
      .def("add_many", add_many, py::arg("jobs"), py::arg("timeout") = 30.0,
           "Stores all or none, in one commit. Each is a dict of what add() takes.")
      .def("get", get, py::arg("id"), py::arg("timeout") = 5.0, "NotFound if there is none.")
      .def("find", find, py::arg("state") = py::none(), py::arg("topic") = py::none(),
           py::arg("limit") = 100, py::arg("timeout") = 5.0,
           "Jobs of the node's own store, else of its owner's, oldest first. `topic` may be a "
           "pattern; `state` is as in JobInfo.");
}

}  // namespace headrace::python
