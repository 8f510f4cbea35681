// Events of one subscription that wait to be taken. Filled by the client's thread, emptied by any.
//
// At most limits::kClientEventBytes wait: the newest are dropped, and counted.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/value/params.h"

namespace headrace {

// An event that a client received; its own.
struct ClientEvent {
  std::string topic;
  ParamSet params;
  Bytes payload;
  NodeId node;  // the publisher
  EventId id;
  WallTime time;          // the publisher's clock
  std::uint64_t seq = 0;  // counts the publisher's events
};

namespace client {

class EventQueue final {
 public:
  // `bytes`: what the event takes.
  void push(ClientEvent event, std::size_t bytes);
  void drop();
  void close();

  // The next event; none when the time is over. kClosed once the client is closed and all is taken.
  Result<std::optional<ClientEvent>> next(Millis timeout);
  std::uint64_t dropped() const;

 private:
  struct Entry {
    ClientEvent event;
    std::size_t bytes;
  };

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> events_;
  std::size_t bytes_ = 0;
  std::uint64_t dropped_ = 0;
  bool closed_ = false;
};

}  // namespace client
}  // namespace headrace
