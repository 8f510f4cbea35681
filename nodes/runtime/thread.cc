#include "nodes/runtime/thread.h"

#include <pthread.h>

#include <csignal>
#include <system_error>
#include <utility>

namespace headrace::runtime {

Result<std::thread> start_thread(const std::string& name, std::function<void()> body) {
  // A thread inherits the mask of the one that makes it. Faults of the program itself stay open:
  // blocked they would end it without a word.
  sigset_t ours;
  sigset_t before;
  sigfillset(&ours);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP})
    sigdelset(&ours, fault);
  pthread_sigmask(SIG_SETMASK, &ours, &before);
  Result<std::thread> started;
  try {
    started = std::thread(std::move(body));
    pthread_setname_np(started->native_handle(), name.substr(0, 15).c_str());
  } catch (const std::system_error& error) {
    started = fail(Code::kFull, "no thread for " + name + ": " + error.what() +
                                    "; raise the limit of processes (ulimit -u)");
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace headrace::runtime
