#include "tools/sim/members/world.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace headrace::sim {
namespace {

constexpr Incarnation kFirstIncarnation = 1'790'000'000'000;  // as large as one of these years is
constexpr std::string_view kAddressHead = "tcp://10.";

std::string address(Place place) {
  return std::string(kAddressHead) + std::to_string(place >> 16) + '.' +
         std::to_string(place >> 8 & 255) + '.' + std::to_string(place & 255);
}

std::string control_endpoint(Place place) { return address(place) + ":7420"; }

Place place_at(std::string_view endpoint) {
  Place place = 0;
  Place part = 0;
  for (const char c : endpoint.substr(kAddressHead.size())) {
    if (c >= '0' && c <= '9') {
      part = part * 10 + static_cast<Place>(c - '0');
      continue;
    }
    place = place << 8 | part;
    part = 0;
    if (c == ':') break;
  }
  return place;
}

Place place_of(NodeId id) { return static_cast<Place>(id.low()); }

}  // namespace

MemberWorld::MemberWorld(MemberSetup setup)
    : network(setup.seed * 3 + 1),
      watch(setup.members),
      random(setup.seed * 3 + 2),
      setup_(std::move(setup)),
      trace_(setup_.trace) {
  Random seeds(setup_.seed * 3);
  slots_.reserve(setup_.members);
  for (Place place = 0; place < setup_.members; ++place) slots_.emplace_back(seeds.next());
}

MembershipOptions MemberWorld::options(Place place, const std::vector<Place>& seeds) {
  MembershipOptions out;
  Slot& slot = slots_[place];
  slot.incarnation = slot.incarnation == 0 ? kFirstIncarnation : slot.incarnation + 1'000;
  out.id = id(place);
  out.incarnation = slot.incarnation;
  out.about.name = "member-" + std::to_string(place);
  out.about.control_endpoint = control_endpoint(place);
  out.about.data_endpoint = address(place) + ":7421";
  out.about.has_store = true;
  out.profile = setup_.profile;
  out.lives = &lives_;
  for (const Place seed : seeds) out.seeds.push_back(control_endpoint(seed));
  return out;
}

void MemberWorld::form() {
  std::vector<LifeRef> lives;
  lives.reserve(size());
  for (Place place = 0; place < size(); ++place) {
    Slot& slot = slots_[place];
    auto own = options(place, {});
    const auto about = std::make_shared<const wire::Description>(own.about);
    lives.push_back(lives_.find_or_keep(own.id, own.incarnation, about));
    slot.membership = std::make_unique<Membership>(std::move(own), slot.random);
  }
  // Spread, so that they do not act in step; all before the first of them does anything.
  const auto step = setup_.profile.probe_interval * 2 / 5 / size();
  for (Place place = 0; place < size(); ++place) {
    Slot& slot = slots_[place];
    for (const auto& life : lives) slot.membership->know(life);
    slot.membership->start(now_ + step * place);
    drain(place);
  }
  up_ = size();
}

void MemberWorld::start(Place place, const std::vector<Place>& seeds) {
  Slot& slot = slots_[place];
  HEADRACE_CHECK(slot.membership == nullptr);
  slot.membership = std::make_unique<Membership>(options(place, seeds), slot.random);
  slot.timer_at = kNever;
  ++up_;
  slot.membership->start(now_);
  drain(place);
}

void MemberWorld::crash(Place place) {
  slots_[place].membership.reset();
  slots_[place].timer_at = kNever;
  --up_;
}

void MemberWorld::leave(Place place) {
  slots_[place].membership->leave(now_);
  drain(place);
}

void MemberWorld::run_to(MonoTime until) {
  while (!events_.empty() && events_.top().at <= until) {
    const Event event = events_.top();
    events_.pop();
    const auto before = now_;
    now_ = event.at;
    if (setup_.progress) {
      using std::chrono::floor;
      using std::chrono::seconds;
      const auto second = floor<seconds>(now_.time_since_epoch());
      if (second != floor<seconds>(before.time_since_epoch())) {
        setup_.progress(second - seconds{1'000});
      }
    }
    handle(event);
  }
  now_ = until;
}

void MemberWorld::handle(const Event& event) {
  if (event.mail != kTimer) return deliver(event.place, event.mail);
  Slot& slot = slots_[event.place];
  if (slot.membership == nullptr || slot.timer_at != event.at) return;
  slot.timer_at = kNever;
  if (slot.membership->next_timer() <= now_) {
    slot.membership->tick(now_);
    HEADRACE_CHECK(slot.membership->next_timer() > now_);
  }
  drain(event.place);
}

void MemberWorld::deliver(Place place, std::uint32_t number) {
  const auto free = network.free(place, now_);
  if (free > now_) return push(free, place, number);
  Mail mail = std::move(mails_[number]);
  free_mails_.push_back(number);
  Slot& slot = slots_[place];
  if (slot.membership == nullptr || (!mail.to.is_zero() && mail.to != id(place))) return;
  trace_.mix(static_cast<std::uint64_t>(now_.time_since_epoch().count()));
  trace_.mix(std::uint64_t{place} << 32 | mail.from);
  trace_.mix(mail.message);
  slot.membership->peer_heard(now_, id(mail.from), mail.incarnation);
  HEADRACE_CHECK(slot.membership->receive(now_, id(mail.from), mail.message).has_value());
  drain(place);
}

void MemberWorld::drain(Place place) {
  Slot& slot = slots_[place];
  for (auto& output : slot.membership->take_outputs()) {
    if (auto* mail = std::get_if<SendMember>(&output)) {
      send(place, std::move(*mail));
    } else if (const auto* change = std::get_if<MemberChanged>(&output)) {
      const auto subject = place_of(change->id);
      watch.changed(now_, place, subject, *change);
      trace_.mix(std::uint64_t{place} << 32 | subject);
      trace_.mix(static_cast<std::uint64_t>(change->after));
      if (trace_.written()) {
        trace_.detail(now_, std::to_string(place) + " sees " + std::to_string(subject) + " " +
                                std::string(member_state_name(change->after)));
      }
    }
  }
  const auto next = slot.membership->next_timer();
  if (next >= slot.timer_at) return;
  slot.timer_at = next;
  push(next, place, kTimer);
}

void MemberWorld::send(Place from, SendMember mail) {
  watch.sent(now_, from, mail.message);
  const auto to = place_at(mail.endpoint);
  const auto arrival = network.arrival(from, to, now_);
  if (!arrival) return;
  std::uint32_t number = 0;
  if (free_mails_.empty()) {
    number = static_cast<std::uint32_t>(mails_.size());
    mails_.emplace_back();
  } else {
    number = free_mails_.back();
    free_mails_.pop_back();
  }
  mails_[number] = {from, mail.to, slots_[from].incarnation, std::move(mail.message)};
  push(*arrival, to, number);
}

bool MemberWorld::run_until(Nanos within, const std::function<bool()>& condition) {
  const auto deadline = now_ + within;
  while (!condition()) {
    if (now_ >= deadline) return false;
    run_to(std::min<MonoTime>(deadline, now_ + Millis{50}));
  }
  return true;
}

bool MemberWorld::agreed() const {
  std::size_t count = 0;
  for (const auto& slot : slots_) count += slot.membership && !slot.membership->left() ? 1 : 0;
  const Membership* first = nullptr;
  for (const auto& slot : slots_) {
    if (!slot.membership || slot.membership->left()) continue;
    if (slot.membership->live() != count) return false;
    if (first == nullptr) first = slot.membership.get();
    if (slot.membership->view_hash() != first->view_hash()) return false;
  }
  return true;
}

}  // namespace headrace::sim
