#include "core/event/event_lane.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/wire/blob.h"
#include "core/wire/event_frame.h"
#include "core/wire/kinds.h"

namespace headrace {
namespace {

// At most: the fields of a message around its byte strings.
constexpr std::size_t kEventFieldBytes = 64;
constexpr std::size_t kLaneHeadBytes = 48;
// A batch closes with the event that reaches its size: most are small, and need no other memory.
constexpr std::size_t kOvershoot = 4096;

constexpr unsigned kLooks = 2;
constexpr std::size_t kPieceFieldBytes = 40;

bool in_pieces(const wire::Event& event) { return event.payload.size() > limits::kChunkBytes; }

}  // namespace

EventParcel::EventParcel(const wire::Event& source) : event(source) {
  bytes.reserve(source.topic.size() + source.params.size() + source.payload.size());
  bytes.append(source.topic).append(source.params).append(source.payload);
  const BytesView all = bytes;
  event.topic = all.substr(0, source.topic.size());
  event.params = all.substr(source.topic.size(), source.params.size());
  event.payload = all.substr(source.topic.size() + source.params.size());
}

std::size_t EventLane::cost(const wire::Event& event) {
  const auto pieces = in_pieces(event) ? event.payload.size() / limits::kChunkBytes + 1 : 0;
  return kEventFieldBytes + event.topic.size() + event.params.size() + event.payload.size() +
         pieces * kPieceFieldBytes;
}

EventLane::EventLane(const wire::FrameHead& head, std::vector<Bytes>& spare)
    : window(head.sender_incarnation), head_(head), spare_(spare) {}

void EventLane::look(MonoTime now) {
  auto at = window.stall_at();
  if (refused_since_) at = std::min(at, *refused_since_ + kLaneStall);
  looks_ = at == std::exchange(stall_at_, at) && at != kNever ? looks_ + 1 : 0;
  stalled_ = now >= at && looks_ >= kLooks;
}

EventLane::Frame& EventLane::new_frame(std::size_t reserve) {
  Frame& frame = frames_.emplace_back();
  if (reserve >= limits::kBatchBytes && !spare_.empty()) {
    frame.bytes = std::move(spare_.back());
    spare_.pop_back();
  }
  frame.bytes.reserve(reserve + wire::kHeadBytes + kLaneHeadBytes + kOvershoot);
  wire::Writer out(frame.bytes);
  encode(out, head_);
  return frame;
}

// The open frame, to which `size` is to be added.
EventLane::Frame& EventLane::frame(std::size_t size) {
  if (!frames_.empty() && frames_.back().begin != 0) return frames_.back();
  Frame& frame = new_frame(std::max(size, std::min(expect_, limits::kBatchBytes)));
  frame.begin = wire::open_event_frame(frame.bytes);
  frame.lane = window.use(0);
  bytes_ += frame.bytes.size();
  return frame;
}

void EventLane::added(Frame& frame, std::size_t before) {
  const auto size = frame.bytes.size() - before;
  window.use(size);
  frame.lane.size += size;
  bytes_ += size;
  expect_ = frame.bytes.size();
  if (expect_ >= limits::kBatchBytes) close(frame);
}

void EventLane::close(Frame& frame) {
  if (frame.begin == 0) return;
  const auto before = frame.bytes.size();
  wire::close_event_frame(frame.bytes, frame.begin, frame.lane);
  bytes_ += frame.bytes.size() - before;
  frame.begin = 0;
}

BytesView EventLane::add_whole(const wire::Event& event) {
  Frame& frame = this->frame(event.params.size() + event.payload.size());
  const auto before = frame.bytes.size();
  encode(frame.bytes, event);
  const auto size = frame.bytes.size() - before;
  ++frame.events;
  added(frame, before);
  return BytesView(frame.bytes).substr(before, size);
}

BytesView EventLane::add(const wire::Event& event) {
  if (!in_pieces(event)) return add_whole(event);
  for (std::size_t at = 0; at < event.payload.size(); at += limits::kChunkBytes) {
    Frame& frame = this->frame(limits::kChunkBytes);
    const auto before = frame.bytes.size();
    encode(frame.bytes, wire::BlobPiece{event.seq, at, event.payload.size(),
                                        event.payload.substr(at, limits::kChunkBytes)});
    added(frame, before);
  }
  wire::Event message = event;
  message.blob = event.seq;
  message.payload = {};
  add_whole(message);
  return {};
}

void EventLane::add_encoded(BytesView message) {
  Frame& frame = this->frame(message.size());
  const auto before = frame.bytes.size();
  frame.bytes.append(message);
  ++frame.events;
  added(frame, before);
}

void EventLane::add_mark(const wire::LaneMark& mark) {
  if (!frames_.empty()) close(frames_.back());
  Frame& frame = new_frame(0);
  wire::Writer out(frame.bytes);
  out.array(2).u64(number(wire::Kind::kLaneMark));
  encode(out, mark);
  bytes_ += frame.bytes.size();
}

EventFrameOut EventLane::take() {
  HEADRACE_CHECK(!empty());
  Frame& frame = frames_.front();
  close(frame);
  bytes_ -= frame.bytes.size();
  EventFrameOut out{node(), std::move(frame.bytes), frame.events};
  frames_.pop_front();
  return out;
}

void EventLane::put_back(EventFrameOut frame, MonoTime now) {
  bytes_ += frame.bytes.size();
  frames_.push_front({std::move(frame.bytes), 0, {}, frame.events});
  if (!refused_since_) refused_since_ = now;
}

std::uint64_t EventLane::clear() {
  std::uint64_t events = 0;
  for (const auto& frame : frames_) events += frame.events;
  frames_.clear();
  bytes_ = 0;
  return events;
}

}  // namespace headrace
