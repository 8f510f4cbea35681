// A received frame. Owns its bytes, which are libzmq's own buffer: nothing is copied. Moves; one
// owner at a time, any thread.
//
// A frame longer than 33 bytes keeps its bytes in place when the Frame is moved, so views into it
// stay good as long as some Frame holds it. Every frame with a whole head is longer.
#pragma once

#include <utility>
#include <zmq.hpp>

#include "core/base/bytes.h"

namespace headrace::transport {

class Frame final {
 public:
  Frame() = default;
  explicit Frame(zmq::message_t message) : message_(std::move(message)) {}

  BytesView bytes() const { return {message_.data<char>(), message_.size()}; }
  std::size_t size() const { return message_.size(); }

 private:
  zmq::message_t message_;
};

}  // namespace headrace::transport
