#include "bindings/python/event.h"

#include <structmember.h>

#include <array>
#include <cstddef>

#include "bindings/python/convert.h"
#include "bindings/python/errors.h"

namespace headrace::python {

namespace {

struct EventObject {
  PyObject ob_base;
  PyObject* topic;
  PyObject* params;  // null: empty, and nobody has asked
  PyObject* payload;
  NodeId node;
  EventId id;
  WallTime time;
  std::uint64_t seq;
};

struct PublishedObject {
  PyObject ob_base;
  Published value;
};

PyTypeObject* event_type = nullptr;
PyTypeObject* published_type = nullptr;

EventObject& as_event(PyObject* self) { return *reinterpret_cast<EventObject*>(self); }
Published& as_published(PyObject* self) { return reinterpret_cast<PublishedObject*>(self)->value; }

void free_object(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

void free_event(PyObject* self) {
  auto& event = as_event(self);
  Py_XDECREF(event.topic);
  Py_XDECREF(event.params);
  Py_XDECREF(event.payload);
  free_object(self);
}

PyObject* hex(const auto& id) {
  const auto text = id.hex();
  return PyUnicode_DecodeASCII(text.data(), static_cast<Py_ssize_t>(text.size()), nullptr);
}

PyObject* event_params(PyObject* self, void*) {
  auto& params = as_event(self).params;
  if (params == nullptr) params = PyDict_New();
  Py_XINCREF(params);
  return params;
}
PyObject* event_node(PyObject* self, void*) { return hex(as_event(self).node); }
PyObject* event_id(PyObject* self, void*) { return hex(as_event(self).id); }
PyObject* event_time(PyObject* self, void*) {
  try {
    return from_time(as_event(self).time).release().ptr();
  } catch (py::error_already_set& error) {
    error.restore();
    return nullptr;
  }
}
PyObject* event_seq(PyObject* self, void*) {
  return PyLong_FromUnsignedLongLong(as_event(self).seq);
}
PyObject* event_repr(PyObject* self) {
  return PyUnicode_FromFormat("<headrace.Event %R #%llu>", as_event(self).topic,
                              static_cast<unsigned long long>(as_event(self).seq));
}

PyObject* published_id(PyObject* self, void*) { return hex(as_published(self).id); }
PyObject* published_repr(PyObject* self) {
  const auto& value = as_published(self);
  return PyUnicode_FromFormat("<headrace.Published %s: destinations %u, dropped %u>",
                              value.id.hex().c_str(), value.destinations, value.dropped);
}

std::array<PyMemberDef, 3> event_members{{
    {"topic", T_OBJECT_EX, offsetof(EventObject, topic), READONLY, nullptr},
    {"payload", T_OBJECT_EX, offsetof(EventObject, payload), READONLY, nullptr},
    {},
}};
std::array<PyGetSetDef, 6> event_getters{{
    {"params", event_params, nullptr, nullptr, nullptr},
    {"node", event_node, nullptr, "the publisher's id", nullptr},
    {"id", event_id, nullptr, nullptr, nullptr},
    {"time", event_time, nullptr, "by the publisher's clock, UTC", nullptr},
    {"seq", event_seq, nullptr, "counts the publisher's events", nullptr},
    {},
}};
constexpr const char* kEventDoc =
    "What a callback gets. It may be kept: everything in it is its own. `payload` is a copy as "
    "bytes, because the memory that the event came in is shared with many others and goes back "
    "when the callback returns.";
std::array<PyType_Slot, 6> event_slots{{
    {Py_tp_dealloc, reinterpret_cast<void*>(free_event)},
    {Py_tp_members, event_members.data()},
    {Py_tp_getset, event_getters.data()},
    {Py_tp_repr, reinterpret_cast<void*>(event_repr)},
    {Py_tp_doc, const_cast<char*>(kEventDoc)},
    {},
}};

std::array<PyMemberDef, 3> published_members{{
    {"destinations", T_UINT, offsetof(PublishedObject, value.destinations), READONLY,
     "nodes it went to, this one included"},
    {"dropped", T_UINT, offsetof(PublishedObject, value.dropped), READONLY,
     "nodes it did not go to for want of room"},
    {},
}};
std::array<PyGetSetDef, 2> published_getters{{
    {"id", published_id, nullptr, "of the event", nullptr},
    {},
}};
constexpr const char* kPublishedDoc = "What became of a publish.";
std::array<PyType_Slot, 6> published_slots{{
    {Py_tp_dealloc, reinterpret_cast<void*>(free_object)},
    {Py_tp_members, published_members.data()},
    {Py_tp_getset, published_getters.data()},
    {Py_tp_repr, reinterpret_cast<void*>(published_repr)},
    {Py_tp_doc, const_cast<char*>(kPublishedDoc)},
    {},
}};

PyTypeObject* make_type(py::module_& module, const char* name, std::size_t size,
                        PyType_Slot* slots) {
  const std::string path = std::string("headrace._headrace.") + name;
  PyType_Spec spec{
      path.c_str(), static_cast<int>(size), 0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, slots};
  auto type = py::reinterpret_steal<py::object>(PyType_FromSpec(&spec));
  if (!type) throw py::error_already_set();
  module.attr(name) = type;
  return reinterpret_cast<PyTypeObject*>(type.release().ptr());
}

PyObject* allocate(PyTypeObject* type) {
  auto* object = type->tp_alloc(type, 0);
  if (object == nullptr) throw py::error_already_set();
  return object;
}

}  // namespace

void bind_event(py::module_& module) {
  event_type = make_type(module, "Event", sizeof(EventObject), event_slots.data());
  published_type = make_type(module, "Published", sizeof(PublishedObject), published_slots.data());
}

py::object to_event(const Event& event) {
  auto made = py::reinterpret_steal<py::object>(allocate(event_type));
  auto& object = as_event(made.ptr());
  object.topic = from_text(event.topic).release().ptr();
  object.payload = from_bytes(event.payload).release().ptr();
  if (!event.params.empty()) object.params = from_params(event.params).release().ptr();
  object.node = event.node;
  object.id = event.id;
  object.time = event.time;
  object.seq = event.seq;
  return made;
}

py::object to_published(const Published& published) {
  auto* object = allocate(published_type);
  as_published(object) = published;
  return py::reinterpret_steal<py::object>(object);
}

}  // namespace headrace::python
