// What membership finds out, told to whom it concerns.
#include <algorithm>

#include "core/peer/node_advert.h"
#include "core/peer/peer.h"
#include "core/store/meta.h"
#include "core/wire/codec.h"

namespace headrace {

// What was faster counts at once, what took longer for an eighth: dialling, or one slow turn
// somewhere, adds to a round trip, and nothing takes away from it.
void Peer::measure_round_trip() {
  const auto trip = membership_.take_round_trip();
  if (!trip) return;
  const auto [at, first] = round_trips_.try_emplace(trip->member, trip->took);
  Nanos& mean = at->second;
  if (!first) mean = trip->took < mean ? trip->took : mean + (trip->took - mean) / 8;
}

void Peer::follow_membership(const job::Now& now) {
  measure_round_trip();
  for (auto& output : membership_.take_outputs()) {
    if (auto* mail = std::get_if<SendMember>(&output)) {
      follow(now, *mail);
    } else if (const auto* change = std::get_if<MemberChanged>(&output)) {
      follow(now, *change);
    } else if (const auto* restart = std::get_if<MemberRestarted>(&output)) {
      follow(now, *restart);
    } else if (const auto* advert = std::get_if<AdvertChanged>(&output)) {
      members_changed_ = true;
      follow(now, *advert);
    } else if (const auto* seen = std::get_if<IncarnationSeen>(&output)) {
      act(IncarnationNeeded{seen->seen});
    } else if (auto* text = std::get_if<MemberNote>(&output)) {
      note(std::move(text->text));
    }
  }
}

void Peer::follow(const job::Now&, SendMember& mail) {
  // To a member that is reached anyway, over the link that is there; an answer may go to somebody not met yet.
  const auto* member = mail.to.is_zero() ? nullptr : membership_.find(mail.to);
  if (member != nullptr && member->live() && member->about().control_endpoint == mail.endpoint) {
    act(Send{mail.to, wire::Lane::kControl, std::move(mail.message)});
  } else {
    act(SendEndpoint{std::move(mail.endpoint), std::move(mail.message)});
  }
}

void Peer::reach(const NodeId& node) {
  const auto* member = membership_.find(node);
  act(Reach{node, member->life->incarnation, member->about().control_endpoint,
            member->about().data_endpoint});
}

void Peer::follow(const job::Now& now, const MemberChanged& change) {
  if (change.id == config_.id) return;
  members_changed_ = true;
  if (change.what == MemberChanged::What::kForgotten) {
    round_trips_.erase(change.id);
    intake_.forget(change.id);
    if (owner_) owner_->forget(now, change.id);
    act(Unreach{change.id});
    return;
  }
  const bool was = change.what != MemberChanged::What::kJoined && change.before <= MemberState::kSuspect;
  const bool is = change.after <= MemberState::kSuspect;
  if (is && !was) {
    reach(change.id);
    remember_peers();
    if (owner_) {
      // A node that is met for the first time in this life may have begun anew since the last one.
      owner_->on_restarted(now, change.id, membership_.find(change.id)->life->incarnation);
      owner_->on_alive(change.id);
    }
    follow(now, AdvertChanged{change.id, 0});
  } else if (was && !is) {
    intake_.on_dead(change.id);
    if (owner_) owner_->on_dead(now, change.id);
    events_.remove_member(change.id);
    act(Unreach{change.id});
  }
}

void Peer::follow(const job::Now& now, const MemberRestarted& restart) {
  members_changed_ = true;
  intake_.on_incarnation(restart.id, restart.now);
  if (owner_) owner_->on_restarted(now, restart.id, restart.now);
  events_.remove_member(restart.id);
  round_trips_.erase(restart.id);
  blobs_.erase(Bytes(restart.id.raw()));  // the next life numbers them anew
  const auto* member = membership_.find(restart.id);
  if (member != nullptr && member->live()) reach(restart.id);
}

void Peer::follow(const job::Now& now, const AdvertChanged& change) {
  const auto* member = membership_.find(change.id);
  if (change.id == config_.id || member == nullptr || !member->live()) return;
  const auto bytes = membership_.advert(change.id);
  if (bytes.empty()) return;
  const auto advert = decode_advert(bytes);
  if (!advert) return note(advert.error().message + ": of node " + change.id.hex());
  const auto life = member->life->incarnation;
  if (owner_) owner_->set_consumers(now, change.id, life, advert->consumers);
  events_.set_member(change.id, life, advert->registrations);
}

void Peer::publish_advert(const job::Now& now) {
  advert_due_ = false;
  const auto consumers = intake_.adverts();
  membership_.set_advert(now.mono, encode_advert({consumers, registrations_}));
  if (owner_) owner_->set_consumers(now, config_.id, config_.incarnation, consumers);
}

// Whom to look for at the next start. What is lost of it with the machine is learnt again.
void Peer::remember_peers() {
  if (!owner_) return;
  Bytes bytes;
  wire::Writer out(bytes);
  std::vector<std::string> endpoints;
  for (const auto& member : membership_.members()) {
    if (member.id() != config_.id && member.live() && endpoints.size() < 256) {
      endpoints.push_back(member.about().control_endpoint);
    }
  }
  out.array(endpoints.size());
  for (const auto& endpoint : endpoints) out.text(endpoint);
  meta::set_peers(batch(Level::kOs), bytes);
}

std::vector<wire::MemberRow> Peer::members(const job::Now& now) const {
  std::vector<wire::MemberRow> rows;
  for (const auto& member : membership_.members()) {
    wire::MemberRow row;
    row.id = member.id();
    row.name = member.about().name;
    row.state = std::string(member_state_name(member.state));
    row.endpoint = member.about().control_endpoint;
    row.incarnation = member.life->incarnation;
    row.tags.assign(member.about().tags.begin(), member.about().tags.end());
    row.data_endpoint = member.about().data_endpoint;
    row.advert_version = member.advert_version;
    row.age = std::chrono::duration_cast<Millis>(std::max(now.mono - member.since, Nanos{0}));
    if (const auto trip = round_trips_.find(row.id); trip != round_trips_.end()) {
      row.round_trip = std::chrono::ceil<Micros>(trip->second);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace headrace
