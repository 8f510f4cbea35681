#include "bindings/python/interpreter.h"

#include <cxxabi.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "nodes/runtime/interrupt.h"

namespace headrace::python {

namespace {

std::atomic<bool> is_exiting{false};
std::atomic<unsigned> fork_count{0};
std::atomic<unsigned long> main_thread{0};  // as PyThread_get_thread_ident() says

// Never destroyed: threads may outlive main().
struct Dropped {
  std::mutex mutex;
  std::vector<PyObject*> objects;
  std::atomic<bool> any{false};
};
Dropped& dropped() {
  static auto* const list = new Dropped;
  return *list;
}

// The thread state of a worker, from its first callback to its end.
struct Attached {
  PyThreadState* state = nullptr;
  ~Attached() {
    if (state == nullptr || exiting()) return;
    PyEval_RestoreThread(state);
    PyGILState_Release(PyGILState_UNLOCKED);
  }
};
thread_local Attached attached;

void take_gil(PyThreadState* state) {
  if (exiting() && PyThread_get_thread_ident() != main_thread) park();
  try {
    PyEval_RestoreThread(state);
  } catch (abi::__forced_unwind&) {
    park();
  }
}

bool see_to_signals() {
  const auto gil = PyGILState_Ensure();
  const bool raised = PyErr_Occurred() != nullptr || PyErr_CheckSignals() != 0;
  PyGILState_Release(gil);
  return raised;
}

void after_fork() {
  ++fork_count;
  main_thread = PyThread_get_thread_ident();
}

}  // namespace

void start_interpreter_rules() {
  pthread_atfork(nullptr, nullptr, after_fork);
  PyObject* threading = PyImport_ImportModule("threading");
  PyObject* main = threading ? PyObject_CallMethod(threading, "main_thread", nullptr) : nullptr;
  PyObject* ident = main ? PyObject_GetAttrString(main, "ident") : nullptr;
  if (ident != nullptr && PyLong_Check(ident)) main_thread = PyLong_AsUnsignedLong(ident);
  Py_XDECREF(ident);
  Py_XDECREF(main);
  Py_XDECREF(threading);
}

void begin_exit() { is_exiting = true; }
bool exiting() { return is_exiting; }
unsigned forks() { return fork_count.load(std::memory_order_relaxed); }
bool on_worker() { return attached.state != nullptr; }

void park() {
  for (;;) ::pause();
}

GilRelease::GilRelease() {
  if (PyThread_get_thread_ident() == main_thread.load(std::memory_order_relaxed)) {
    runtime::interrupt_check = see_to_signals;
  }
  state_ = PyEval_SaveThread();
}
GilRelease::~GilRelease() { take_gil(state_); }

CallbackGil::CallbackGil() : held_(!exiting()) {
  if (!held_) return;
  if (attached.state != nullptr) {
    take_gil(attached.state);
    return;
  }
  try {
    PyGILState_Ensure();
  } catch (abi::__forced_unwind&) {
    park();
  }
  attached.state = PyThreadState_Get();
}

CallbackGil::~CallbackGil() {
  if (!held_) return;
  drop_kept();
  PyEval_SaveThread();
}

PyObject* call_shielded(PyObject* function, PyObject* argument) {
  try {
    return PyObject_CallFunctionObjArgs(function, argument, nullptr);
  } catch (abi::__forced_unwind&) {
    park();
  }
}

Kept::Kept(PyObject* object) : object_(object) { Py_INCREF(object); }

Kept::~Kept() {
  if (object_ == nullptr) return;
  auto& list = dropped();
  const std::lock_guard lock(list.mutex);
  list.objects.push_back(object_);
  list.any = true;
}

void Kept::clear() { Py_CLEAR(object_); }

void drop_kept() {
  auto& list = dropped();
  if (!list.any.load(std::memory_order_relaxed)) return;
  std::vector<PyObject*> gone;
  {
    // A fork may have caught it locked.
    const std::unique_lock lock(list.mutex, std::try_to_lock);
    if (!lock) return;
    gone.swap(list.objects);
    list.any = false;
  }
  for (auto* object : gone) Py_DECREF(object);
}

}  // namespace headrace::python
