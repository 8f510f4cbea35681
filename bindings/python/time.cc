// Times and durations: datetime and timedelta to std::chrono and back.
#include <pybind11/pybind11.h>
// Needs Python.h first.
#include <datetime.h>

#include <chrono>
#include <cmath>

#include "bindings/python/convert.h"
#include "bindings/python/errors.h"

namespace headrace::python {

namespace {

PyObject* epoch = nullptr;  // 1970-01-01, UTC; never freed

constexpr double kLongestSeconds = 1e12;  // above it: for ever

Micros of_delta(py::handle delta) {
  return std::chrono::days(PyDateTime_DELTA_GET_DAYS(delta.ptr())) +
         std::chrono::seconds(PyDateTime_DELTA_GET_SECONDS(delta.ptr())) +
         Micros(PyDateTime_DELTA_GET_MICROSECONDS(delta.ptr()));
}

double to_seconds(py::handle object, const char* what) {
  auto* const raw = object.ptr();
  if (PyFloat_Check(raw)) return PyFloat_AS_DOUBLE(raw);
  if (PyDelta_Check(raw)) {
    return std::chrono::duration<double>(of_delta(object)).count();
  }
  if (PyLong_Check(raw) && !PyBool_Check(raw)) {
    const double seconds = PyLong_AsDouble(raw);
    if (PyErr_Occurred() == nullptr) return seconds;
    PyErr_Clear();
    return kLongestSeconds;
  }
  raise_invalid(std::string(what) + ": expected seconds or a timedelta, found " +
                Py_TYPE(raw)->tp_name);
}

}  // namespace

void start_time() {
  PyDateTime_IMPORT;
  epoch = PyDateTimeAPI->DateTime_FromDateAndTime(1970, 1, 1, 0, 0, 0, 0, PyDateTime_TimeZone_UTC,
                                                  PyDateTimeAPI->DateTimeType);
  if (epoch == nullptr) throw py::error_already_set();
}

bool is_datetime(py::handle object) { return PyDateTime_Check(object.ptr()); }

WallTime to_time(py::handle object, const std::string& what) {
  if (!is_datetime(object)) {
    raise_invalid(what + ": expected an aware datetime, found " + Py_TYPE(object.ptr())->tp_name);
  }
  const auto delta = py::reinterpret_steal<py::object>(PyNumber_Subtract(object.ptr(), epoch));
  if (!delta) {
    PyErr_Clear();
    raise_invalid(what + ": the datetime is naive; say its time zone, as in " +
                  "datetime.now(timezone.utc)");
  }
  return WallTime(of_delta(delta));
}

py::object from_time(WallTime time) {
  const auto since = time.time_since_epoch();
  const auto days = std::chrono::floor<std::chrono::days>(since);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since - days);
  const auto micros = since - days - seconds;
  const auto in_range = days.count() > -1'000'000 && days.count() < 4'000'000;
  const auto delta = py::reinterpret_steal<py::object>(
      in_range ? PyDelta_FromDSU(static_cast<int>(days.count()), static_cast<int>(seconds.count()),
                                 static_cast<int>(micros.count()))
               : nullptr);
  auto made = py::reinterpret_steal<py::object>(delta ? PyNumber_Add(epoch, delta.ptr()) : nullptr);
  if (made) return made;
  PyErr_Clear();
  raise_invalid("the time " + format_rfc3339(time) + " is outside what a datetime can say");
}

Millis to_millis(py::handle object, const char* what) {
  const double seconds = to_seconds(object, what);
  if (!(seconds >= 0)) {
    raise_invalid(std::string(what) + ": give seconds from 0, not " + std::to_string(seconds));
  }
  if (seconds >= kLongestSeconds) return Millis::max();
  return Millis(static_cast<Millis::rep>(std::ceil(seconds * 1000 - 1e-6)));
}

std::optional<Millis> to_millis_or_none(py::handle object, const char* what) {
  if (object.is_none()) return std::nullopt;
  return to_millis(object, what);
}

}  // namespace headrace::python
