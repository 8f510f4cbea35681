#include "bindings/python/convert.h"

#include <limits>
#include <vector>

#include "bindings/python/errors.h"
#include "core/base/limits.h"

namespace headrace::python {

namespace {

// Where in the argument we are; on the stack, written out only for an error.
struct Where {
  const Where* parent = nullptr;
  std::string_view name;
  std::size_t index = 0;  // of an element, if there is no name
  std::size_t depth = 0;

  std::string text() const {
    const auto own = name.data() == nullptr ? std::to_string(index) : std::string(name);
    return parent == nullptr ? own : parent->text() + "." + own;
  }
};

[[noreturn]] void refuse(const Where& where, const std::string& why) {
  raise_invalid(where.text() + ": " + why);
}

std::string type_of(py::handle object) { return Py_TYPE(object.ptr())->tp_name; }

Value value_at(py::handle object, const Where& where);

std::string_view text_at(py::handle object, const Where& where) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
  if (text == nullptr) {
    PyErr_Clear();
    refuse(where, "the text is not Unicode (it holds lone surrogates)");
  }
  return {text, static_cast<std::size_t>(size)};
}

Value integer_at(py::handle object, const Where& where) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (overflow == 0) return Value(number);
  if (overflow > 0) {
    const auto large = PyLong_AsUnsignedLongLong(object.ptr());
    if (PyErr_Occurred() == nullptr) return Value(large);
    PyErr_Clear();
  }
  refuse(where, "the int is outside 64 bit (-2**63 to 2**64 - 1)");
}

Value array_at(py::handle object, const Where& where) {
  Value::Array values;
  const auto size = PySequence_Fast_GET_SIZE(object.ptr());
  values.reserve(static_cast<std::size_t>(size));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object.ptr()); ++i) {
    const Where element{&where, {}, static_cast<std::size_t>(i), where.depth + 1};
    values.push_back(value_at(PySequence_Fast_GET_ITEM(object.ptr(), i), element));
  }
  return Value(std::move(values));
}

ParamSet map_at(py::handle object, const Where& where) {
  std::vector<Param> params;
  params.reserve(static_cast<std::size_t>(PyDict_GET_SIZE(object.ptr())));
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(object.ptr(), &at, &key, &value);) {
    if (!PyUnicode_Check(key)) {
      refuse(where,
             "keys must be str, found " + std::string(py::repr(key)) + " (" + type_of(key) + ")");
    }
    const auto name = text_at(key, where);
    params.push_back({std::string(name), value_at(value, {&where, name, 0, where.depth + 1})});
  }
  return ParamSet(std::move(params));
}

Value value_at(py::handle object, const Where& where) {
  if (where.depth > limits::kValueDepth) {
    refuse(where, "nested deeper than " + std::to_string(limits::kValueDepth));
  }
  auto* const raw = object.ptr();
  if (raw == Py_None) return {};
  if (PyBool_Check(raw)) return Value(raw == Py_True);
  if (PyLong_Check(raw)) return integer_at(object, where);
  if (PyFloat_Check(raw)) return Value(PyFloat_AS_DOUBLE(raw));
  if (PyUnicode_Check(raw)) return Value(text_at(object, where));
  if (PyDict_Check(raw)) return Value(map_at(object, where));
  if (PyList_Check(raw) || PyTuple_Check(raw)) return array_at(object, where);
  if (PyBytes_Check(raw) || PyByteArray_Check(raw) || PyMemoryView_Check(raw)) {
    return Value(Blob{Bytes(Buffer(object).view())});
  }
  if (is_datetime(object)) return Value(to_time(object, where.text()));
  if (py::isinstance<Ext>(object)) return Value(object.cast<const Ext&>());
  refuse(where, "a " + type_of(object) +
                    " has no place among values; give None, bool, int, float, str, bytes, list, "
                    "dict, an aware datetime or headrace.Ext");
}

std::string ext_repr(const Ext& ext) {
  return "headrace.Ext(" + std::to_string(ext.type) + ", " +
         std::string(py::repr(from_bytes(ext.data))) + ")";
}

}  // namespace

Value to_value(py::handle object, std::string_view what) {
  return value_at(object, {nullptr, what, 0, 0});
}

ParamSet to_params(py::handle object) {
  if (object.is_none()) return {};
  const Where root{nullptr, "params", 0, 0};
  if (!PyDict_Check(object.ptr())) {
    refuse(root, "expected a dict with str keys, found " + type_of(object));
  }
  return map_at(object, root);
}

py::object from_value(const Value& value) {
  struct Visitor {
    py::object operator()(std::monostate) const { return py::none(); }
    py::object operator()(bool is) const { return py::bool_(is); }
    py::object operator()(std::int64_t number) const { return py::int_(number); }
    py::object operator()(std::uint64_t number) const { return py::int_(number); }
    py::object operator()(double number) const { return py::float_(number); }
    py::object operator()(const std::string& text) const { return from_text(text); }
    py::object operator()(const Blob& blob) const { return from_bytes(blob.data); }
    py::object operator()(const Value::Array& values) const {
      py::list list(values.size());
      for (std::size_t i = 0; i < values.size(); ++i) list[i] = from_value(values[i]);
      return list;
    }
    py::object operator()(const ParamSet& map) const { return from_params(map); }
    py::object operator()(WallTime time) const { return from_time(time); }
    py::object operator()(const Ext& ext) const { return py::cast(ext); }
  };
  return value.visit(Visitor{});
}

py::dict from_params(const ParamSet& params) {
  py::dict dict;
  for (const auto& param : params) dict[from_text(param.name)] = from_value(param.value);
  return dict;
}

std::string_view to_text(py::handle object, std::string_view what) {
  const Where where{nullptr, what, 0, 0};
  if (!PyUnicode_Check(object.ptr())) refuse(where, "expected str, found " + type_of(object));
  return text_at(object, where);
}

py::str from_text(std::string_view text) {
  auto* made = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(made);
}

py::bytes from_bytes(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

int to_int(py::handle object, const char* what, int least, int most) {
  if (!PyLong_Check(object.ptr())) {
    raise_invalid(std::string(what) + ": expected int, found " + Py_TYPE(object.ptr())->tp_name);
  }
  int overflow = 0;
  const long number = PyLong_AsLongAndOverflow(object.ptr(), &overflow);
  if (overflow == 0 && number >= least && number <= most) return static_cast<int>(number);
  raise_invalid(std::string(what) + " " + std::string(py::str(object)) + ": give " +
                std::to_string(least) + " to " + std::to_string(most));
}

Buffer::Buffer(py::handle object) {
  auto* const raw = object.ptr();
  if (PyBytes_Check(raw)) {
    view_ = {PyBytes_AS_STRING(raw), static_cast<std::size_t>(PyBytes_GET_SIZE(raw))};
    return;
  }
  if (PyObject_GetBuffer(raw, &buffer_, PyBUF_SIMPLE) != 0) {
    PyErr_Clear();
    raise_invalid("payload: expected bytes or another contiguous buffer, found " + type_of(object));
  }
  view_ = {static_cast<const char*>(buffer_.buf), static_cast<std::size_t>(buffer_.len)};
}

Buffer::~Buffer() {
  if (buffer_.obj != nullptr) PyBuffer_Release(&buffer_);
}

void bind_convert(py::module_& module) {
  start_time();
  py::class_<Ext>(module, "Ext",
                  "An application's own msgpack extension, carried unread. Immutable.")
      .def(py::init([](int type, const py::object& data) {
             if (type == -1) raise_invalid("type -1 is the timestamp: give a datetime");
             if (type < -128 || type > 127) {
               raise_invalid("type " + std::to_string(type) + ": give -128 to 127");
             }
             return Ext{static_cast<std::int8_t>(type), Bytes(Buffer(data).view())};
           }),
           py::arg("type"), py::arg("data"))
      .def_property_readonly("type", [](const Ext& ext) { return static_cast<int>(ext.type); })
      .def_property_readonly("data", [](const Ext& ext) { return from_bytes(ext.data); })
      .def("__eq__",
           [](const Ext& ext, const py::object& other) {
             return py::isinstance<Ext>(other) && ext == other.cast<const Ext&>();
           })
      .def("__hash__",
           [](const Ext& ext) {
             return py::hash(py::make_tuple(static_cast<int>(ext.type), from_bytes(ext.data)));
           })
      .def("__repr__", ext_repr);
}

}  // namespace headrace::python
