#include "bindings/python/errors.h"

#include <algorithm>
#include <array>

namespace headrace::python {

namespace {

constexpr std::size_t kCodes = static_cast<std::size_t>(Code::kInternal) + 1;
// By code; at 0 the base. Borrowed from the module, which is never unloaded.
std::array<PyObject*, kCodes> classes{};

PyObject* also(Code code) {  // the built-in exception that it is as well
  switch (code) {
    case Code::kInvalid: return PyExc_ValueError;
    case Code::kTimeout: return PyExc_TimeoutError;
    case Code::kNotFound: return PyExc_LookupError;
    default: return nullptr;
  }
}

const char* meaning(Code code) {
  switch (code) {
    case Code::kInvalid: return "An argument breaks a rule.";
    case Code::kTimeout: return "Not done in the time given; nothing was changed.";
    case Code::kNotFound: return "No such job, node or registration.";
    case Code::kFull: return "A limit is reached; try again later.";
    case Code::kUnreachable: return "Nobody answers at that address.";
    case Code::kOutcomeUnknown:
      return "Stored or not, nobody knows. `id` is the job's: add it again with that id, and it is "
             "the same job.";
    case Code::kClosed:
      return "The node is closed, or belongs to the process that forked this one.";
    case Code::kInUse: return "Somebody else holds the port or the data directory.";
    case Code::kNoStore: return "Needs a data directory or an owner, and has neither.";
    case Code::kStore: return "The disk or the database failed.";
    case Code::kForbidden: return "Not allowed.";
    case Code::kProtocol: return "A peer broke the protocol.";
    case Code::kJobFailed: return "The job ended, but not in success.";
    case Code::kInternal: return "A fault of Headrace's own.";
  }
  return "";
}

py::object new_class(py::module_& module, const char* name, const char* doc, const py::tuple& bases,
                     int code) {
  py::dict members;
  members["code"] = code;
  const std::string path = std::string("headrace.") + name;
  auto made = py::reinterpret_steal<py::object>(
      PyErr_NewExceptionWithDoc(path.c_str(), doc, bases.ptr(), members.ptr()));
  if (!made) throw py::error_already_set();
  module.attr(name) = made;
  return made;
}

// The first id that the sentence names: 32 hex digits on their own.
std::string id_in(const std::string& message) {
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  for (auto begin = message.begin(); begin != message.end();) {
    begin = std::find_if(begin, message.end(), is_hex);
    const auto end = std::find_if_not(begin, message.end(), is_hex);
    if (end - begin == 32) return {begin, end};
    begin = end;
  }
  return {};
}

}  // namespace

void bind_errors(py::module_& module) {
  const auto base = new_class(module, "Error",
                              "What Headrace could not do: one sentence, and `code`, a stable "
                              "number. Each code has its subclass.",
                              py::make_tuple(py::handle(PyExc_Exception)), 0);
  classes[0] = base.ptr();
  for (std::size_t number = 1; number < kCodes; ++number) {
    const auto code = static_cast<Code>(number);
    auto* builtin = also(code);
    py::tuple bases = py::make_tuple(base);
    if (builtin != nullptr) bases = py::make_tuple(base, py::handle(builtin));
    const std::string name(code_name(code));
    auto made = new_class(module, name.c_str(), meaning(code), bases, static_cast<int>(number));
    if (code == Code::kOutcomeUnknown) made.attr("id") = py::none();
    classes[number] = made.ptr();
  }
}

py::object to_exception(const Error& error) {
  const auto number = static_cast<std::size_t>(error.code);
  const auto known = number < kCodes ? number : 0;
  auto exception = py::reinterpret_borrow<py::object>(classes[known])(
      py::reinterpret_steal<py::object>(PyUnicode_DecodeUTF8(
          error.message.data(), static_cast<Py_ssize_t>(error.message.size()), "replace")));
  if (known == 0) exception.attr("code") = number;
  if (error.code == Code::kOutcomeUnknown) {
    if (const auto id = id_in(error.message); !id.empty()) exception.attr("id") = id;
  }
  return exception;
}

void raise(const Error& error) {
  const auto exception = to_exception(error);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw py::error_already_set();
}

void raise_invalid(const std::string& message) { raise({Code::kInvalid, message}); }

void raise_forked() {
  raise({Code::kClosed,
         "this was opened by the process that forked this one; open a node of your own here"});
}

}  // namespace headrace::python
