#include "core/wire/frame.h"

#include <algorithm>

namespace headrace::wire {

namespace {

constexpr std::size_t kHeadFields = 6;
constexpr std::size_t kHeadFieldsMax = 64;  // newer versions append

// The shortest message, [kind], takes two bytes, so the count needs no watching where the size is
// watched.
static_assert(limits::kBatchBytes / 2 <= limits::kMessagesPerFrame);

}  // namespace

std::uint64_t cluster_hash(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : name) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

void encode(Writer& out, const FrameHead& head) {
  out.array(kHeadFields)
      .u64(head.version)
      .u64(head.cluster)
      .id(head.sender)
      .u64(head.sender_incarnation)
      .id(head.receiver)
      .u64(head.receiver_incarnation);
}

FrameHead decode_head(Reader& in) {
  FrameHead head;
  const auto fields = in.array(kHeadFieldsMax);
  if (fields < kHeadFields) in.fail();
  head.version = in.u64();
  head.cluster = in.u64();
  head.sender = in.id<NodeId>();
  head.sender_incarnation = in.u64();
  head.receiver = in.id<NodeId>();
  head.receiver_incarnation = in.u64();
  for (auto i = kHeadFields; i < fields && in.ok(); ++i) in.skip();
  return head;
}

void FrameBuilder::set_head(const FrameHead& head) {
  if (head == head_) return;
  head_ = head;
  open_ = false;
}

Bytes& FrameBuilder::open() {
  if (open_) return frames_.back();
  open_ = true;
  Bytes& frame = frames_.emplace_back();
  frame.reserve(std::min(expect_, limits::kBatchBytes) + kHeadBytes);
  Writer out(frame);
  encode(out, head_);
  bytes_ += frame.size();
  return frame;
}

void FrameBuilder::added(std::size_t size) {
  HEADRACE_CHECK(size > 0 && size <= kMessageBytes);
  bytes_ += size;
  expect_ = frames_.back().size();
  if (expect_ >= limits::kBatchBytes) open_ = false;
}

Bytes FrameBuilder::take() {
  HEADRACE_CHECK(!empty());
  if (frames_.size() == 1) open_ = false;
  Bytes frame = std::move(frames_.front());
  frames_.pop_front();
  bytes_ -= frame.size();
  return frame;
}

void FrameBuilder::put_back(Bytes frame) {
  bytes_ += frame.size();
  frames_.push_front(std::move(frame));
}

void FrameBuilder::clear() {
  frames_.clear();
  open_ = false;
  bytes_ = 0;
}

FrameReader::FrameReader(BytesView frame) : in_(frame) {
  if (frame.size() > limits::kFrameBytes) in_.fail();
  head_ = decode_head(in_);
}

std::optional<BytesView> FrameReader::next() {
  if (!in_.ok() || in_.at_end()) return {};
  if (++messages_ > limits::kMessagesPerFrame) in_.fail();
  const auto message = in_.raw();
  // [kind, ...]: an array of at least one element.
  Reader inside(message);
  if (inside.array(limits::kValueElements) == 0) in_.fail();
  if (!in_.ok()) return {};
  return message;
}

}  // namespace headrace::wire
