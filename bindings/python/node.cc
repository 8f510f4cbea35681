// The classes Node, Registration, Consumer and Member.
#include "bindings/python/node.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/python/callbacks.h"
#include "bindings/python/convert.h"
#include "bindings/python/errors.h"
#include "bindings/python/event.h"
#include "bindings/python/jobs.h"
#include "bindings/python/open_node.h"
#include "core/base/limits.h"

namespace headrace::python {

namespace {

struct NodeObject {
  std::shared_ptr<OpenNode> node;
  py::object jobs;
};

// Both stand until the node closes, whatever becomes of the Python object: handles are kept, so
// that their destructors do nothing, in a forked child either.
struct RegistrationObject {
  std::shared_ptr<OpenNode> node;
  Registration handle;
};
struct ConsumerObject {
  std::shared_ptr<OpenNode> node;
  Consumer handle;
};

std::string text_or_empty(const py::object& object, const char* what) {
  return object.is_none() ? std::string() : std::string(to_text(object, what));
}

std::vector<std::string> to_endpoints(const py::object& join) {
  if (PyUnicode_Check(join.ptr())) return {std::string(to_text(join, "join"))};
  std::vector<std::string> endpoints;
  for (const auto& endpoint : join) endpoints.emplace_back(to_text(endpoint, "join"));
  return endpoints;
}

std::map<std::string, std::string> to_tags(const py::object& tags) {
  std::map<std::string, std::string> made;
  if (tags.is_none()) return made;
  if (!PyDict_Check(tags.ptr())) raise_invalid("tags: expected a dict of str");
  for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(tags)) {
    made.emplace(to_text(key, "tags"), to_text(value, "tags"));
  }
  return made;
}

NodeObject open(const py::object& name, const std::optional<std::filesystem::path>& data,
                const py::object& listen, const py::object& join, const py::object& owner,
                const py::object& cluster, const py::object& tags, bool insecure, bool lan,
                bool beacon) {
  NodeOptions options;
  options.name = text_or_empty(name, "name");
  if (data) options.data = *data;
  options.listen = text_or_empty(listen, "listen");
  options.join = to_endpoints(join);
  options.owner = text_or_empty(owner, "owner");
  options.cluster = to_text(cluster, "cluster");
  options.tags = to_tags(tags);
  options.insecure = insecure;
  options.lan = lan;
  options.beacon = beacon;
  auto node = OpenNode::open(std::move(options));
  return {node, py::cast(JobsObject{node})};
}

PyObject* to_function(const py::object& object, const char* what) {
  if (PyCallable_Check(object.ptr()) != 0) return object.ptr();
  raise_invalid(std::string(what) + ": expected a function, found " +
                Py_TYPE(object.ptr())->tp_name);
}

RegistrationObject add_registration(const NodeObject& self, const py::object& topic,
                                    const py::object& function, bool sink) {
  auto& node = self.node->get();
  auto callback = event_callback(self.node->keep(to_function(function, "fn")));
  auto handle =
      take(node.on(std::string(to_text(topic, "topic")), std::move(callback), {.sink = sink}));
  handle.keep();
  return {self.node, std::move(handle)};
}

// Of a consumer, as Python gives them.
struct Slots {
  py::object parallel, hwm, lwm;
};

ConsumerOptions to_options(const Slots& slots) {
  const auto mark = [](const py::object& given, const char* what) -> std::optional<unsigned> {
    if (given.is_none()) return std::nullopt;
    return static_cast<unsigned>(to_int(given, what, 0, static_cast<int>(limits::kHighWaterMark)));
  };
  ConsumerOptions options;
  options.parallel = static_cast<unsigned>(
      to_int(slots.parallel, "parallel", 1, static_cast<int>(limits::kParallel)));
  options.hwm = mark(slots.hwm, "hwm");
  options.lwm = mark(slots.lwm, "lwm");
  return options;
}

ConsumerObject consume(const NodeObject& self, const py::object& topics, const py::object& function,
                       const Slots& slots) {
  auto& node = self.node->get();
  auto handler = job_handler(self.node->keep(to_function(function, "fn")));
  auto handle = take(
      node.consume(std::string(to_text(topics, "topics")), std::move(handler), to_options(slots)));
  handle.keep();
  return {self.node, std::move(handle)};
}

py::cpp_function on(const py::object& self, const py::object& topic, bool sink) {
  return py::cpp_function(
      [self, topic, sink](const py::object& function) {
        add_registration(self.cast<NodeObject&>(), topic, function, sink);
        return function;
      },
      py::arg("function"));
}

py::cpp_function consumer(const py::object& self, const py::object& topics,
                          const py::object& parallel, const py::object& hwm,
                          const py::object& lwm) {
  return py::cpp_function(
      [self, topics, slots = Slots{parallel, hwm, lwm}](const py::object& function) {
        consume(self.cast<NodeObject&>(), topics, function, slots);
        return function;
      },
      py::arg("function"));
}

const ParamSet& none() {
  static const auto* const empty = new ParamSet;
  return *empty;
}

py::object publish(const NodeObject& self, const py::object& topic, const py::object& params,
                   const py::object& payload, const py::object& timeout) {
  auto& node = self.node->get();
  const auto text = to_text(topic, "topic");
  const Buffer bytes(payload);
  const auto wait = to_millis(timeout, "timeout");
  if (params.is_none()) {
    return to_published(waiting([&] { return node.publish(text, none(), bytes.view(), wait); }));
  }
  const auto set = to_params(params);
  return to_published(waiting([&] { return node.publish(text, set, bytes.view(), wait); }));
}

// Never waits, so the GIL stays.
py::object try_publish(const NodeObject& self, const py::object& topic, const py::object& params,
                       const py::object& payload) {
  auto& node = self.node->get();
  const auto text = to_text(topic, "topic");
  const Buffer bytes(payload);
  if (params.is_none()) return to_published(take(node.try_publish(text, none(), bytes.view())));
  return to_published(take(node.try_publish(text, to_params(params), bytes.view())));
}

void wait_ready(const NodeObject& self, const py::object& timeout) {
  auto& node = self.node->get();
  const auto wait = to_millis(timeout, "timeout");
  waiting([&] { return node.wait_ready(wait); });
}

bool unregister(RegistrationObject& self) {
  self.node->get();
  const bool removed = waiting([&] { return Result<bool>(self.handle.unregister()); });
  drop_kept();
  return removed;
}

py::list members(const NodeObject& self) {
  py::list list;
  for (auto& member : self.node->get().members()) list.append(py::cast(std::move(member)));
  return list;
}

void bind_member(py::module_& module) {
  py::class_<Member>(module, "Member", "A node of the cluster, as this node believes it to be.")
      .def_property_readonly("id", [](const Member& member) { return member.id.hex(); })
      .def_property_readonly("name", [](const Member& member) { return from_text(member.name); })
      .def_readonly("state", &Member::state, "'alive', 'suspect', 'dead' or 'left'")
      .def_property_readonly("endpoint",
                             [](const Member& member) { return from_text(member.endpoint); })
      .def_readonly("incarnation", &Member::incarnation)
      .def_property_readonly("tags",
                             [](const Member& member) {
                               py::dict tags;
                               for (const auto& [key, value] : member.tags) {
                                 tags[from_text(key)] = from_text(value);
                               }
                               return tags;
                             })
      .def_property_readonly("data_endpoint",
                             [](const Member& member) { return from_text(member.data_endpoint); })
      .def_readonly("advert_version", &Member::advert_version)
      .def_property_readonly("since", [](const Member& member) { return from_time(member.since); })
      .def_property_readonly("round_trip",
                             [](const Member& member) -> std::optional<double> {
                               if (!member.round_trip) return {};
                               return std::chrono::duration<double>(*member.round_trip).count();
                             })
      .def("__repr__", [](const Member& member) {
        return "<headrace.Member " + member.name + " " + member.state + " " + member.endpoint + ">";
      });
}

void bind_handles(py::module_& module) {
  py::class_<RegistrationObject>(module, "Registration",
                                 "An interest in a topic. Lasts as long as the node, unless ended.")
      .def_property_readonly("id", [](const RegistrationObject& self) { return self.handle.id(); })
      .def("unregister", unregister,
           "True once. None of its callbacks starts afterwards; waits for one that runs, unless "
           "called inside it.");
  py::class_<ConsumerObject>(module, "Consumer",
                             "A handler of jobs. Lasts as long as the node, unless ended.")
      .def(
          "stop",
          [](ConsumerObject& self) {
            self.node->get();
            self.handle.stop();
            drop_kept();
          },
          "Takes no more jobs and hands back what has not started; what runs goes on.");
}

using NodeClass = py::class_<NodeObject>;

void bind_life(NodeClass& node) {
  node.def(py::init(&open), py::kw_only(), py::arg("name") = py::none(),
           py::arg("data") = py::none(), py::arg("listen") = py::none(),
           py::arg("join") = py::tuple(), py::arg("owner") = py::none(),
           py::arg("cluster") = "default", py::arg("tags") = py::none(),
           py::arg("insecure") = false, py::arg("lan") = false, py::arg("beacon") = true)
      .def(
          "close",
          [](const NodeObject& self, const py::object& drain) {
            self.node->close(to_millis(drain, "drain"));
          },
          py::arg("drain") = 5.0,
          "Lets callbacks end within `drain` seconds, hands back the rest, flushes, leaves. Not "
          "inside a callback.")
      .def("__enter__", [](const py::object& self) { return self; })
      .def("__exit__",
           [](const NodeObject& self, const py::args&) { self.node->close(Millis{5'000}); })
      .def(
          "stop", [](const NodeObject& self) { self.node->stop(); },
          "Ends run(), now or when it is called. Never waits.")
      .def(
          "run", [](const NodeObject& self) { self.node->run(); },
          "Returns after Ctrl-C, SIGTERM, stop() or close(). Not inside a callback.")
      .def("wait_ready", wait_ready, py::arg("timeout") = 5.0,
           "Waits until it knows every member that the nodes it joined through know, with what "
           "they registered. Timeout.")
      .def_property_readonly("id", [](const NodeObject& self) { return self.node->id(); })
      .def_property_readonly("name",
                             [](const NodeObject& self) { return from_text(self.node->name()); })
      .def_property_readonly(
          "endpoint", [](const NodeObject& self) { return from_text(self.node->endpoint()); })
      .def_property_readonly("jobs", [](const NodeObject& self) { return self.jobs; })
      .def("members", members, "This node and those it knows of.")
      .def("__repr__", [](const NodeObject& self) {
        return "<headrace.Node " + self.node->name() + " " + self.node->endpoint() + ">";
      });
}

void bind_events(NodeClass& node) {
  node.def("register", add_registration, py::arg("topic"), py::arg("fn"), py::arg("sink") = false,
           "Calls fn(event) for every event at `topic` or below that no more specific topic took; "
           "a sink gets those too. One at a time and in order, on a thread of Headrace's. What it "
           "raises goes to sys.unraisablehook.")
      .def("on", on, py::arg("topic"), py::arg("sink") = false,
           "Decorator: register(), for as long as the node lasts.")
      .def("publish", publish, py::arg("topic"), py::arg("params") = py::none(),
           py::arg("payload") = py::bytes(), py::arg("timeout") = 1.0,
           "Waits up to `timeout` seconds for room at destinations that are moving; one without "
           "is dropped and counted.")
      .def("try_publish", try_publish, py::arg("topic"), py::arg("params") = py::none(),
           py::arg("payload") = py::bytes(), "As publish, but never waits.")
      .def(
          "match_count",
          [](const NodeObject& self, const py::object& topic) {
            return self.node->get().match_count(to_text(topic, "topic"));
          },
          py::arg("topic"), "Nodes that an event there would go to.");
}

void bind_consumers(NodeClass& node) {
  node.def(
          "consume",
          [](const NodeObject& self, const py::object& topics, const py::object& function,
             const py::object& parallel, const py::object& hwm, const py::object& lwm) {
            return consume(self, topics, function, {parallel, hwm, lwm});
          },
          py::arg("topics"), py::arg("fn"), py::arg("parallel") = 1, py::arg("hwm") = py::none(),
          py::arg("lwm") = py::none(),
          "Calls fn(job) for each job at a topic or pattern, up to `parallel` at once, each on a "
          "thread of Headrace's. What it returns is the job's result; what it raises fails the "
          "attempt: headrace.Cancel for good, headrace.Retry after its time, all else after the "
          "backoff. hwm, lwm: how many jobs it holds; None: automatic.")
      .def("consumer", consumer, py::arg("topics"), py::arg("parallel") = 1,
           py::arg("hwm") = py::none(), py::arg("lwm") = py::none(),
           "Decorator: consume(), for as long as the node lasts.");
}

}  // namespace

void bind_node(py::module_& module) {
  bind_member(module);
  bind_handles(module);
  NodeClass node(module, "Node",
                 "A program's membership in a cluster: events, durable jobs, members. Open at "
                 "once. Calls from any thread, callbacks included, unless they say otherwise; none "
                 "blocks other Python threads while it waits, and Ctrl-C ends every wait.");
  bind_life(node);
  bind_events(node);
  bind_consumers(node);
}

}  // namespace headrace::python
