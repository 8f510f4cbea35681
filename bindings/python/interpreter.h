// The rules between Headrace's threads and the interpreter: who holds the GIL when, how Ctrl-C ends
// a wait, what happens when the interpreter ends and in a child made by fork.
//
// A call from Python that may wait runs under a GilRelease. A callback on a thread of Headrace runs
// under a CallbackGil. No thread of Headrace's own (loop, commit, read) ever takes the GIL, so that
// a handler which hogs it costs nobody his lease; what they let go of is kept for a thread that has
// it (drop_later).
#pragma once

#include <Python.h>

#include <memory>

namespace headrace::python {

void start_interpreter_rules();  // once, by the module's init, with the GIL

// The interpreter is about to end: no callback starts any more. From the atexit function.
void begin_exit();
bool exiting();

// Counts the forks up to this process: what was opened under another number is the parent's.
unsigned forks();

// Whether this is a thread of Headrace's that runs callbacks.
bool on_worker();

// The calling thread never returns: it would otherwise touch an interpreter that is gone.
[[noreturn]] void park();

// Lets other Python threads run. On Python's main thread the waits of the runtime then look for
// signals; what their handlers raise is the current Python error afterwards.
class GilRelease {
 public:
  GilRelease();
  ~GilRelease();
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

// The GIL for a callback. False if the interpreter is ending: then it is not held. The thread state
// is kept until the thread ends, since making one costs more than most callbacks.
class CallbackGil {
 public:
  CallbackGil();
  ~CallbackGil();
  CallbackGil(const CallbackGil&) = delete;
  CallbackGil& operator=(const CallbackGil&) = delete;
  explicit operator bool() const { return held_; }

 private:
  bool held_;
};

// PyObject_CallOneArg that survives the end of the interpreter, which unwinds the thread from
// within.
PyObject* call_shielded(PyObject* function, PyObject* argument);

// A reference that may be dropped on any thread, with the GIL or without.
class Kept final {
 public:
  explicit Kept(PyObject* object);  // takes one more reference; with the GIL
  ~Kept();
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  PyObject* get() const { return object_; }  // null after clear()
  void clear();                              // with the GIL

 private:
  PyObject* object_;
};
void drop_kept();  // what was let go of without the GIL; with the GIL

}  // namespace headrace::python
