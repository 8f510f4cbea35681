#include "bindings/python/callbacks.h"

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include "bindings/python/convert.h"
#include "bindings/python/errors.h"
#include "bindings/python/event.h"
#include "bindings/python/jobs.h"
#include "bindings/python/running_job.h"

namespace headrace::python {

namespace {

// "ValueError: no such file (verify.py:12, in verify)": the last lines of the traceback.
std::string describe(const py::object& exception) {
  try {
    const auto traceback = py::module_::import("traceback");
    std::string text;
    for (const auto& line :
         traceback.attr("format_exception_only")(py::type::of(exception), exception)) {
      text += line.cast<std::string>();
    }
    while (!text.empty() && text.back() == '\n') text.pop_back();
    const py::list frames = traceback.attr("extract_tb")(exception.attr("__traceback__"));
    if (frames.empty()) return text;
    const py::object last = frames[frames.size() - 1];
    return text + " (" + py::str(last.attr("filename")).cast<std::string>() + ":" +
           py::str(last.attr("lineno")).cast<std::string>() + ", in " +
           py::str(last.attr("name")).cast<std::string>() + ")";
  } catch (const std::exception&) {
    PyErr_Clear();
    return Py_TYPE(exception.ptr())->tp_name;
  }
}

// Takes the current error.
py::object fetch_exception() {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace != nullptr) PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  return py::reinterpret_steal<py::object>(value);
}

std::string why_of(const py::object& exception) { return py::str(exception).cast<std::string>(); }

JobOutcome failed(const py::object& exception) {
  const auto outcome = py::module_::import("headrace._outcome");
  if (py::isinstance(exception, outcome.attr("Cancel"))) {
    return JobOutcome::cancel(why_of(exception));
  }
  if (py::isinstance(exception, outcome.attr("Retry"))) {
    return JobOutcome::fail(why_of(exception),
                            to_millis_or_none(exception.attr("after"), "Retry: after"));
  }
  return JobOutcome::fail(describe(exception));
}

JobOutcome failed_now() {
  const auto exception = fetch_exception();
  try {
    return failed(exception);
  } catch (const std::exception& error) {  // a str() that raises, an `after` that is no duration
    PyErr_Clear();
    return JobOutcome::fail(describe(exception) + ": " + error.what());
  }
}

JobOutcome succeeded(const py::object& result) {
  try {
    return JobOutcome::ok(to_value(result, "result"));
  } catch (py::error_already_set& error) {
    // The same handler would return the same again, so this is the end of it.
    return JobOutcome::cancel("its result cannot be kept: " + why_of(error.value()));
  }
}

JobOutcome run_job(PyObject* function, RunningJob& job) {
  const RunningJobObject object(job);
  const auto result =
      py::reinterpret_steal<py::object>(call_shielded(function, object.get().ptr()));
  return result ? succeeded(result) : failed_now();
}

}  // namespace

std::function<void(const Event&)> event_callback(std::shared_ptr<Kept> function) {
  return [function = std::move(function)](const Event& event) {
    std::string why;
    {
      const CallbackGil gil;
      if (!gil) return;
      try {
        const auto object = to_event(event);
        const auto result =
            py::reinterpret_steal<py::object>(call_shielded(function->get(), object.ptr()));
        if (result) return;
        auto exception = fetch_exception();
        why = describe(exception);
        PyErr_SetObject(py::type::of(exception).ptr(), exception.ptr());
        PyErr_WriteUnraisable(function->get());
      } catch (py::error_already_set& error) {  // a time that no datetime can say
        why = error.what();
        error.discard_as_unraisable("an event callback of headrace");
      }
    }
    throw std::runtime_error(why);
  };
}

std::function<JobOutcome(RunningJob&)> job_handler(std::shared_ptr<Kept> function) {
  return [function = std::move(function)](RunningJob& job) {
    const CallbackGil gil;
    if (!gil) return JobOutcome::fail("the interpreter is ending");
    try {
      return run_job(function->get(), job);
    } catch (py::error_already_set& error) {  // before the handler was called
      return JobOutcome::fail(error.what());
    }
  };
}

std::function<void(Result<JobHandle>)> future_settler(const py::object& future) {
  return [future = std::make_shared<Kept>(future.ptr())](Result<JobHandle> result) {
    const CallbackGil gil;
    if (!gil) return;
    try {
      const py::handle target = future->get();
      if (result) {
        target.attr("set_result")(to_job_handle(*std::move(result)));
      } else {
        target.attr("set_exception")(to_exception(result.error()));
      }
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("jobs.submit of headrace");
    }
  };
}

}  // namespace headrace::python
