#include "tools/sim/members/watch.h"

#include <algorithm>

#include "core/wire/kinds.h"

namespace headrace::sim {
namespace {

constexpr std::size_t kLongest = 120'000;  // milliseconds that a refutation is told apart

bool gone(MemberState state) { return state == MemberState::kDead; }

std::int64_t second_of(MonoTime now) {
  return std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
}

}  // namespace

MemberWatch::MemberWatch(Place members)
    : excused(members, false), sent_in_second_(members), peak_of_(members) {
  reset(MonoTime{});
}

void MemberWatch::reset(MonoTime now) {
  const auto members = excused.size();
  suspicions = deaths = false_deaths = 0;
  first_suspected_.assign(members, kNever);
  last_declared_.assign(members, kNever);
  declared_.assign(members, 0);
  suspected_since_.clear();
  flaps_.clear();
  refuted_in_.assign(kLongest + 1, 0);
  refuted_ = 0;
  most_flaps_ = 0;
  messages_ = sync_messages_ = bytes_ = bytes_in_second_ = peak_ = 0;
  second_ = second_of(now);
  std::fill(sent_in_second_.begin(), sent_in_second_.end(), 0);
  std::fill(peak_of_.begin(), peak_of_.end(), 0);
}

void MemberWatch::changed(MonoTime now, Place viewer, Place subject, const MemberChanged& change) {
  if (change.what != MemberChanged::What::kState) return;
  if (change.after == MemberState::kSuspect) {
    ++suspicions;
    first_suspected_[subject] = std::min(first_suspected_[subject], now);
  }
  if (gone(change.after)) {
    ++deaths;
    if (!excused[subject]) ++false_deaths;
    ++declared_[subject];
    last_declared_[subject] = now;
  }
  if (gone(change.before)) --declared_[subject];
  if (follow_flaps_ && gone(change.before) != gone(change.after)) {
    most_flaps_ = std::max(most_flaps_, ++flaps_[pair(viewer, subject)]);
  }
  if (!follow_refutations_) return;
  if (change.after == MemberState::kSuspect) {
    suspected_since_.emplace(pair(viewer, subject), now);
  } else if (const auto at = suspected_since_.find(pair(viewer, subject));
             at != suspected_since_.end()) {
    if (change.after == MemberState::kAlive) {
      const auto lasted = std::chrono::duration_cast<Millis>(now - at->second).count();
      ++refuted_in_[std::min(static_cast<std::size_t>(lasted), kLongest)];
      ++refuted_;
    }
    suspected_since_.erase(at);
  }
}

Millis MemberWatch::refuted_within(unsigned percent) const {
  const auto wanted = (refuted_ * percent + 99) / 100;
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < refuted_in_.size(); ++i) {
    seen += refuted_in_[i];
    if (seen >= wanted) return Millis{i};
  }
  return Millis{kLongest};
}

void MemberWatch::sent(MonoTime now, Place from, BytesView message) {
  const auto second = second_of(now);
  if (second != second_) roll(second);
  // [kind, ...]: both fit one byte.
  const auto kind = static_cast<unsigned char>(message[1]);
  const bool sync = kind >= static_cast<unsigned>(wire::Kind::kSyncDigest) &&
                    kind <= static_cast<unsigned>(wire::Kind::kSyncState);
  const auto bytes = message.size() + MemberNetwork::kOverhead;
  ++messages_;
  if (sync) ++sync_messages_;
  bytes_ += bytes;
  bytes_in_second_ += bytes;
  sent_in_second_[from] += bytes;
}

void MemberWatch::roll(std::int64_t second) {
  peak_ = std::max(peak_, bytes_in_second_);
  bytes_in_second_ = 0;
  for (std::size_t i = 0; i < peak_of_.size(); ++i) {
    peak_of_[i] = std::max(peak_of_[i], sent_in_second_[i]);
    sent_in_second_[i] = 0;
  }
  second_ = second;
}

std::uint64_t MemberWatch::peak_bytes() {
  roll(second_);
  return peak_ / excused.size();
}

std::uint64_t MemberWatch::peak_bytes_of_one(Place places) {
  roll(second_);
  return *std::max_element(peak_of_.begin(), peak_of_.begin() + places);
}

}  // namespace headrace::sim
