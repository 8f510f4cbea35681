// Frames that arrive: whose they are, and to which part each message goes.
#include "core/base/limits.h"
#include "core/peer/peer.h"
#include "core/wire/kinds.h"

namespace headrace {
namespace {

constexpr std::size_t kBlobs = 8;                // of one sender at a time
constexpr std::size_t kBlobBytes = 4 * limits::kJobPayloadBytes;
constexpr std::size_t kBlobSources = 64;         // all together at most 64 times that: see take_blob
constexpr std::size_t kAllBlobBytes = 256 << 20;

// The kind of a message, and the reader behind it.
wire::Kind kind_of(wire::Reader& in) {
  in.array(UINT32_MAX);
  return static_cast<wire::Kind>(in.u64(UINT8_MAX));
}

bool is_member_kind(wire::Kind kind) { return kind >= wire::Kind::kHello && kind <= wire::Kind::kAdvert; }
bool is_event_kind(wire::Kind kind) { return kind >= wire::Kind::kEvent && kind < wire::Kind::kReply; }
bool is_call_kind(wire::Kind kind) { return kind >= wire::Kind::kReply; }

}  // namespace

void Peer::on_frame(const job::Now& now, wire::Lane, BytesView client, BytesView frame,
                    const std::shared_ptr<const void>& hold) {
  wire::FrameReader reader(frame);
  if (!reader.ok() || reader.head().version != wire::kProtocolVersion) {
    ++bad_frames_;
    return;
  }
  const wire::FrameHead& head = reader.head();
  const bool for_me = head.receiver.is_zero() || head.receiver == config_.id;
  const bool ours = for_me && head.cluster == wire::cluster_hash(config_.cluster);
  if (!ours && client.empty()) {
    ++strange_mail_;
    return;
  }
  if (client.empty() && head.sender != config_.id) membership_.peer_heard(now.mono, head.sender, head.sender_incarnation);
  const bool this_life = head.receiver_incarnation == config_.incarnation;
  const auto* member = client.empty() ? membership_.find(head.sender) : nullptr;
  const bool known =
      head.sender == config_.id ||
      (member != nullptr && member->live() && member->life->incarnation == head.sender_incarnation);
  while (const auto message = reader.next()) {
    wire::Reader in(*message);
    const auto kind = kind_of(in);
    if (!client.empty()) {
      // Before its hello is answered a client knows neither the cluster nor who lives here.
      if ((ours && this_life) || kind == wire::Kind::kCallHello) on_client_mail(now, client, *message);
      else ++strange_mail_;
    } else if (is_member_kind(kind)) {
      if (!membership_.receive(now.mono, head.sender, *message)) ++bad_frames_;
    } else if (!known || !this_life) {
      ++strange_mail_;
    } else if (is_event_kind(kind)) {
      const char* end = frame.data() + frame.size();
      if (kind == wire::Kind::kEventFrame) {  // the rest of the frame is its events
        return events_.receive(now, head.sender, head.sender_incarnation,
                               {message->data(), static_cast<std::size_t>(end - message->data())}, hold);
      }
      events_.receive(now, head.sender, head.sender_incarnation, *message, hold);
    } else {
      on_node_mail(now, head.sender, head.sender_incarnation, *message);
    }
  }
  if (!reader.ok()) ++bad_frames_;
}

void Peer::on_node_mail(const job::Now& now, const NodeId& from, Incarnation life, BytesView message) {
  wire::Reader in(message);
  const auto kind = kind_of(in);
  const Bytes source(from.raw());
  bool known = true;
  if (kind == wire::Kind::kBlob) {
    known = take_blob(source, in);
  } else if (kind == wire::Kind::kReply) {
    on_reply(now, in, source);
  } else if (is_call_kind(kind)) {
    known = on_call(now, {Caller::Kind::kNode, 0, from, {}, life}, kind, in, source);
  } else {
    known = on_job_mail(now, from, life, kind, in);
  }
  if (!known) ++unknown_kinds_;
  if (!in.ok()) ++bad_frames_;
}

bool Peer::on_job_mail(const job::Now& now, const NodeId& from, Incarnation life, wire::Kind kind,
                       wire::Reader& in) {
  using wire::Kind;
  wire::WindowId window;
  switch (kind) {
    case Kind::kJobItem: {
      wire::JobItem item;
      if (!decode(in, item)) return true;
      // Without its payload an item is lost: the next number, or a mark, shows the gap.
      if (auto payload = payload_of(Bytes(from.raw()), item.payload)) {
        intake_.on_item(now, from, life, item, std::move(*payload));
      }
      return true;
    }
    case Kind::kAnnounce: {
      wire::Announce announce;
      decode(in, window);
      decode(in, announce);
      if (in.ok()) intake_.on_announce(now, from, life, window, announce);
      return true;
    }
    case Kind::kMark: {
      wire::Mark mark;
      decode(in, window);
      decode(in, mark);
      if (in.ok()) intake_.on_mark(now, from, life, window, mark);
      return true;
    }
    case Kind::kWindowOver: {
      wire::WindowOver over;
      decode(in, window);
      decode(in, over);
      if (in.ok()) intake_.on_over(now, from, life, window, over);
      return true;
    }
    case Kind::kJobDoneAck: {
      wire::JobDoneAck ack;
      if (decode(in, ack)) intake_.on_done_ack(now, from, life, ack);
      return true;
    }
    case Kind::kJobClaimsAck: {
      wire::JobClaimsAck ack;
      if (decode(in, ack)) intake_.on_claims_ack(now, from, life, ack);
      return true;
    }
    case Kind::kWindowState: {
      wire::WindowState state;
      decode(in, window);
      decode(in, state);
      if (in.ok() && owner_) owner_->on_state(now, from, life, window, state);
      return true;
    }
    case Kind::kJobDone: {
      wire::JobDone done;
      if (decode(in, done) && owner_) owner_->on_done(now, from, life, done);
      return true;
    }
    case Kind::kJobHandBack: {
      wire::JobHandBack back;
      if (decode(in, back) && owner_) owner_->on_hand_back(now, from, back);
      return true;
    }
    case Kind::kJobClaims: {
      wire::JobClaims claims;
      if (decode(in, claims) && owner_) owner_->on_claims(now, from, life, claims);
      return true;
    }
    default: return false;
  }
}

void Peer::on_client_mail(const job::Now& now, BytesView client, BytesView message) {
  wire::Reader in(message);
  const auto kind = kind_of(in);
  const Bytes source(client);
  if (const auto at = clients_.find(source); at != clients_.end()) at->second.heard = now.mono;
  bool known = true;
  if (kind == wire::Kind::kBlob) {
    known = take_blob(source, in);
  } else if (kind != wire::Kind::kClientAlive) {
    known = is_call_kind(kind) && on_call(now, {Caller::Kind::kClient, 0, {}, source}, kind, in, source);
  }
  if (!known) ++unknown_kinds_;
  if (!in.ok()) ++bad_frames_;
}

bool Peer::take_blob(const Bytes& source, wire::Reader& in) {
  wire::BlobPiece piece;
  if (!decode(in, piece)) return true;
  auto at = blobs_.find(source);
  if (at == blobs_.end()) {
    if (blobs_.size() >= kBlobSources) {  // the one that holds least to lose makes room
      auto least = blobs_.begin();
      for (auto other = blobs_.begin(); other != blobs_.end(); ++other) {
        if (other->second.held_bytes() < least->second.held_bytes()) least = other;
      }
      blobs_.erase(least);
    }
    at = blobs_.emplace(source, wire::BlobAssembler(kBlobs, kBlobBytes)).first;
  }
  std::size_t held = 0;
  for (const auto& [other, blobs] : blobs_) held += blobs.held_bytes();
  if (piece.offset == 0 && held + piece.total > kAllBlobBytes) return true;  // lost: its sender tries again
  at->second.add(piece);
  return true;
}

std::optional<Bytes> Peer::payload_of(const Bytes& source, const wire::PayloadRef& ref) {
  if (ref.blob == 0) return Bytes(ref.inlined);
  const auto at = blobs_.find(source);
  if (at == blobs_.end()) return {};
  auto whole = at->second.take(ref.blob);
  if (at->second.held_bytes() == 0) blobs_.erase(at);
  return whole;
}

}  // namespace headrace
