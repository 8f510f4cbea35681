// OpenNode: a C++ Node as Python holds it, from open to close, in the process that opened it.
//
// Shared by the Python objects that need it. All calls with the GIL. Whichever thread lets go of
// the last one, the node is closed: a callback's thread, which cannot wait for itself, leaves that
// to another. In a child made by fork nothing of it is touched, not even to free it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bindings/python/interpreter.h"
#include "nodes/node.h"

namespace headrace::python {

struct Closing;  // a close that is under way or over

class OpenNode final {
 public:
  // Waits for the store to open; Ctrl-C ends that.
  static std::shared_ptr<OpenNode> open(NodeOptions options);
  ~OpenNode();
  OpenNode(const OpenNode&) = delete;
  OpenNode& operator=(const OpenNode&) = delete;

  Node& get();  // raises Closed in a forked child
  const std::string& id() const { return id_; }
  const std::string& name() const { return name_; }
  const std::string& endpoint() const { return endpoint_; }

  // A callback of this node's. It is let go of when the node has closed, since it may well refer to
  // the node.
  std::shared_ptr<Kept> keep(PyObject* function);

  void close(Millis drain);  // a second close waits for the first
  void run();                // until stop(), close(), SIGTERM or Ctrl-C
  void stop();

  // At the end of the interpreter: closes all that are open, and waits a while for their callbacks.
  static void close_all();

 private:
  explicit OpenNode(Node node);
  void start_closing(Millis drain);
  void forget_callbacks();

  const unsigned forks_;
  std::shared_ptr<Node> node_;
  const std::string id_, name_, endpoint_;
  int stop_fd_ = -1;
  std::shared_ptr<Closing> closing_;  // guarded by the GIL, as are the callbacks
  std::vector<std::weak_ptr<Kept>> callbacks_;
  std::size_t look_over_ = 64;  // so many callbacks for those that have gone
};

}  // namespace headrace::python
