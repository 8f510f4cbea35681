#include "core/member/adverts.h"

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

constexpr std::uint32_t kChunksMax =
    static_cast<std::uint32_t>(limits::kAdvertBytes / limits::kAdvertChunkBytes);

std::uint32_t chunks_of(std::size_t bytes) {
  const auto chunks = (bytes + limits::kAdvertChunkBytes - 1) / limits::kAdvertChunkBytes;
  return static_cast<std::uint32_t>(std::max<std::size_t>(1, chunks));  // an empty one is one too
}

}  // namespace

void Adverts::set_own(std::uint64_t version, Bytes bytes) {
  auto& held = held_[shared_.self_id];
  held = Held{shared_.self().life->incarnation, version, std::move(bytes)};
}

void Adverts::member_changed(const MemberRecord& member) {
  const auto id = member.id();
  if (id == shared_.self_id) return;
  const bool behind = member.live() && member.advert_version > version(id);
  const auto at = pulls_.find(id);
  if (!behind) {
    if (at != pulls_.end()) pulls_.erase(at);
  } else if (at == pulls_.end()) {
    pulls_.emplace(id, Pull{});
  }
  begin_waiting();
}

void Adverts::forget(NodeId id) {
  held_.erase(id);
  pulls_.erase(id);
}

BytesView Adverts::bytes(NodeId id) const {
  const auto at = held_.find(id);
  return at == held_.end() ? BytesView{} : BytesView{at->second.bytes};
}

std::uint64_t Adverts::version(NodeId id) const {
  const auto at = held_.find(id);
  return at == held_.end() ? 0 : at->second.version;
}

void Adverts::begin_waiting() {
  auto running = std::count_if(pulls_.begin(), pulls_.end(),
                               [&](const auto& entry) { return this->running(entry.second); });
  for (auto at = pulls_.begin(); at != pulls_.end(); ++at) {
    if (running >= static_cast<std::ptrdiff_t>(shared_.profile.concurrent_adverts)) return;
    if (this->running(at->second)) continue;
    const MemberRecord* member = shared_.table.find(at->first);
    if (member == nullptr) continue;
    request(*member, *member, at->second);
    ++running;
  }
}

void Adverts::ask_elsewhere(const MemberRecord& member, Pull& pull) {
  pull.tries += 1;
  const auto others = shared_.table.sample(shared_.random, 1, [&](const MemberRecord& m) {
    return m.state == MemberState::kAlive && m.id() != shared_.self_id && m.id() != member.id();
  });
  // In turn the node itself and somebody else: either may be the one that is out of reach.
  const bool itself = others.empty() || pull.tries % 2 == 0;
  request(member, itself ? member : *others.front(), pull);
}

void Adverts::request(const MemberRecord& member, const MemberRecord& from, Pull& pull) {
  pull.asked = from.id();
  pull.deadline = shared_.now + shared_.profile.reply_timeout;
  shared_.send(from, wire::AdvertGet{member.id(), member.life->incarnation, version(member.id()),
                                     pull.next_chunk, shared_.self().about().control_endpoint});
}

void Adverts::on_get(NodeId from, const wire::AdvertGet& get) {
  wire::AdvertChunk answer;
  answer.node = get.node;
  answer.incarnation = get.incarnation;
  const auto at = held_.find(get.node);
  if (at != held_.end() && at->second.incarnation == get.incarnation &&
      at->second.version > get.have) {
    const auto& held = at->second;
    answer.version = held.version;
    answer.chunks = chunks_of(held.bytes.size());
    // A chunk beyond the end is of another version: start again with this one.
    answer.chunk = get.chunk < answer.chunks ? get.chunk : 0;
    answer.bytes =
        held.bytes.substr(answer.chunk * limits::kAdvertChunkBytes, limits::kAdvertChunkBytes);
  }
  shared_.send(from, get.endpoint, answer);
}

std::optional<std::uint64_t> Adverts::on_chunk(const MemberRecord& from,
                                               const wire::AdvertChunk& chunk) {
  const auto at = pulls_.find(chunk.node);
  const MemberRecord* member = shared_.table.find(chunk.node);
  if (at == pulls_.end() || member == nullptr || at->second.asked != from.id()) return {};
  auto& pull = at->second;
  if (chunk.incarnation != member->life->incarnation || !running(pull)) return {};
  if (chunk.chunks == 0 || chunk.chunks > kChunksMax || chunk.version <= version(chunk.node)) {
    // Nothing newer there. Whoever it is, ask again only after a while: the deadline stands.
    return {};
  }
  const bool other = chunk.version != pull.version || chunk.chunks != pull.chunks;
  if (other) {
    pull.version = chunk.version;
    pull.chunks = chunk.chunks;
    pull.next_chunk = 0;
    pull.bytes.clear();
  }
  if (chunk.chunk == pull.next_chunk) {
    pull.bytes += chunk.bytes;
    pull.next_chunk += 1;
  } else if (!other) {
    return {};  // a late repeat
  }
  if (pull.next_chunk < pull.chunks) {
    request(*member, from, pull);
    return {};
  }
  const auto version = pull.version;
  held_[chunk.node] = Held{chunk.incarnation, version, std::move(pull.bytes)};
  pulls_.erase(at);
  member_changed(*member);
  return version;
}

void Adverts::tick() {
  for (auto& [id, pull] : pulls_) {
    if (pull.deadline > shared_.now) continue;
    const MemberRecord* member = shared_.table.find(id);
    if (member != nullptr) ask_elsewhere(*member, pull);
  }
}

MonoTime Adverts::next() const {
  MonoTime next = kNever;
  for (const auto& [id, pull] : pulls_) next = std::min(next, pull.deadline);
  return next;
}

void Adverts::shift(Nanos by) {
  for (auto& [id, pull] : pulls_) {
    if (running(pull)) pull.deadline += by;
  }
}

}  // namespace headrace
