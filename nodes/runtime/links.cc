#include "nodes/runtime/links.h"

#include <algorithm>
#include <utility>

namespace headrace::runtime {

namespace {

// A dial that is over soon keeps no old greetings for somebody who comes up later.
constexpr std::chrono::seconds kDialKept{5};
constexpr std::chrono::seconds kIdleKept{60};
constexpr std::chrono::seconds kSweepEvery{5};

std::size_t index(wire::Lane lane) { return static_cast<std::size_t>(lane); }

Result<std::optional<transport::Endpoint>> parse_optional(const std::string& text) {
  if (text.empty()) return std::nullopt;
  auto endpoint = transport::Endpoint::parse(text);
  if (!endpoint) return fail(endpoint.error());
  return std::optional(*endpoint);
}

}  // namespace

Links::~Links() {
  for (const auto& [node, link] : links_) transport_.close_link(link.id);
  for (const auto& [endpoint, dial] : dials_) transport_.close_link(dial.id);
}

wire::FrameHead Links::head(const NodeId& to, Incarnation incarnation) const {
  return {.cluster = self_.cluster,
          .sender = self_.node,
          .sender_incarnation = self_.incarnation,
          .receiver = to,
          .receiver_incarnation = incarnation};
}

Result<void> Links::reach(const Reach& reach) {
  const auto data = parse_optional(reach.data);
  if (!data) return fail(data.error());
  const auto found = links_.find(reach.node);
  if (found != links_.end()) {
    auto& link = found->second;
    const bool same =
        link.reach.incarnation == reach.incarnation && link.reach.control == reach.control;
    if (same && *data) {
      link.reach.data = reach.data;
      return transport_.set_data_endpoint(link.id, **data);
    }
    if (same) return {};
    unreach(reach.node);
  }
  const auto control = transport::Endpoint::parse(reach.control);
  if (!control) return fail(control.error());
  const auto id = transport_.open_link(*control, *data);
  if (!id) return fail(id.error());
  const wire::FrameBuilder frames(head(reach.node, reach.incarnation));
  links_.emplace(reach.node, Link{*id, reach, {Lane{frames}, Lane{frames}}});
  nodes_.emplace(*id, reach.node);
  return {};
}

void Links::unreach(const NodeId& node) {
  const auto found = links_.find(node);
  if (found == links_.end()) return;
  drop_all(found->second);
  transport_.close_link(found->second.id);
  nodes_.erase(found->second.id);
  links_.erase(found);
}

const std::string* Links::endpoint_of(const NodeId& node) const {
  const auto found = links_.find(node);
  return found != links_.end() ? &found->second.reach.control : nullptr;
}

bool Links::fits(BytesView message) {
  if (message.size() <= wire::kMessageBytes) return true;
  ++stats_.dropped_messages;
  return false;
}

void Links::append(const NodeId& to, wire::Lane lane, BytesView message) {
  const auto found = links_.find(to);
  if (found == links_.end()) {
    ++stats_.dropped_messages;
    return;
  }
  if (!fits(message)) return;
  auto& link = found->second;
  auto& way = link.lanes[index(lane)];
  const auto before = way.frames.bytes();
  way.frames.append(message);
  waiting_bytes_ += way.frames.bytes() - before;
  if (!way.dirty) dirty_.emplace_back(to, lane);
  way.dirty = true;
  if (link.bytes() > limits::kLinkBytes || waiting_bytes_ > limits::kLinksBytes) make_room(link);
}

void Links::append_endpoint(const std::string& endpoint, BytesView message, MonoTime now) {
  if (!fits(message)) return;
  auto where = transport::Endpoint::parse(endpoint);
  append_dial(endpoint, where, message, now);
  if (!where || where->is_numeric()) return;
  // libzmq takes one address of a name: whoever listens at the other is not kept out for that.
  where->name_is_ipv6 = true;
  append_dial(endpoint + " by IPv6", where, message, now);
}

void Links::append_dial(const std::string& key, const Result<transport::Endpoint>& where,
                        BytesView message, MonoTime now) {
  auto found = dials_.find(key);
  if (found == dials_.end()) {
    const auto id = where ? transport_.open_link(*where) : fail(where.error());
    if (!id) {
      ++stats_.dropped_messages;
      return;
    }
    Dial dial{*id, wire::FrameBuilder(head(NodeId{}, 0)), now};
    found = dials_.emplace(key, std::move(dial)).first;
  }
  found->second.used = now;
  found->second.frames.append(message);
}

void Links::append_client(BytesView routing_id, BytesView message) {
  if (!fits(message)) return;
  auto found = clients_.find(routing_id);
  if (found == clients_.end()) {
    found = clients_.emplace(Bytes(routing_id), wire::FrameBuilder(head(NodeId{}, 0))).first;
  }
  found->second.append(message);
}

bool Links::emit(const NodeId& to, Bytes& frame) {
  const auto found = links_.find(to);
  if (found == links_.end()) {
    ++stats_.dropped_frames;
    return true;
  }
  auto& way = found->second.lanes[index(wire::Lane::kData)];
  if (way.full) return false;
  switch (transport_.send(found->second.id, wire::Lane::kData, frame)) {
    case transport::Sent::kQueued: return true;
    case transport::Sent::kFull: way.full = true; return false;
    case transport::Sent::kClosed: break;
  }
  ++stats_.dropped_frames;
  return true;
}

void Links::flush(std::vector<Bytes>& gone) {
  for (const auto& [node, lane] : dirty_) {
    const auto found = links_.find(node);
    if (found == links_.end()) continue;
    found->second.lanes[index(lane)].dirty = false;
    flush(found->second, lane);
  }
  dirty_.clear();
  for (auto& [endpoint, dial] : dials_) flush_dial(dial);
  for (auto& [routing_id, frames] : clients_) {
    const auto client = transport::RoutingId::parse(routing_id);
    bool here = client.has_value();
    while (here && !frames.empty()) {
      auto frame = frames.take();
      const auto sent = transport_.reply(*client, frame);
      // One that does not read misses this; it repeats its calls.
      if (sent != transport::Sent::kQueued) ++stats_.dropped_frames;
      here = sent != transport::Sent::kClosed;
    }
    if (!here) gone.push_back(routing_id);
  }
  clients_.clear();
}

void Links::flush(Link& link, wire::Lane lane) {
  auto& way = link.lanes[index(lane)];
  const auto before = way.frames.bytes();
  while (!way.full && !way.frames.empty()) {
    auto frame = way.frames.take();
    const auto sent = transport_.send(link.id, lane, frame);
    if (sent == transport::Sent::kClosed) ++stats_.dropped_frames;
    way.full = sent == transport::Sent::kFull;
    if (way.full) way.frames.put_back(std::move(frame));
  }
  waiting_bytes_ -= before - way.frames.bytes();
}

void Links::flush_dial(Dial& dial) {
  while (!dial.frames.empty()) {
    auto frame = dial.frames.take();
    if (transport_.send(dial.id, wire::Lane::kControl, frame) != transport::Sent::kQueued) {
      ++stats_.dropped_frames;
    }
  }
}

std::optional<NodeId> Links::on_room(transport::LinkId link, wire::Lane lane) {
  const auto node = nodes_.find(link);
  if (node == nodes_.end()) return std::nullopt;
  auto& found = links_.at(node->second);
  auto& way = found.lanes[index(lane)];
  way.full = false;
  flush(found, lane);
  if (way.full || lane != wire::Lane::kData) return std::nullopt;
  return node->second;
}

void Links::drop_all(Link& link) {
  waiting_bytes_ -= link.bytes();
  for (auto& way : link.lanes) {
    stats_.dropped_frames += way.frames.frames();
    way.frames.clear();
  }
}

void Links::drop_oldest(Link& link) {
  auto& data = link.lanes[index(wire::Lane::kData)];
  auto& control = link.lanes[index(wire::Lane::kControl)];
  auto& larger = data.frames.bytes() >= control.frames.bytes() ? data : control;
  waiting_bytes_ -= larger.frames.take().size();
  ++stats_.dropped_frames;
}

void Links::make_room(Link& last) {
  while (last.bytes() > limits::kLinkBytes) drop_oldest(last);
  while (waiting_bytes_ > limits::kLinksBytes) {
    const auto largest = std::max_element(
        links_.begin(), links_.end(),
        [](const auto& a, const auto& b) { return a.second.bytes() < b.second.bytes(); });
    drop_oldest(largest->second);
  }
}

void Links::sweep(MonoTime now) {
  if (now < sweep_at_) return;
  sweep_at_ = now + kSweepEvery;
  std::erase_if(dials_, [&](const auto& entry) {
    if (now - entry.second.used < kDialKept) return false;
    transport_.close_link(entry.second.id);
    return true;
  });
  transport_.close_idle(kIdleKept);
}

LinkStats Links::stats() const {
  auto stats = stats_;
  stats.waiting_bytes = waiting_bytes_;
  return stats;
}

}  // namespace headrace::runtime
