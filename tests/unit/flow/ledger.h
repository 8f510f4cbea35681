// What really happened to each dispatch of a simulated world: the truth that no node sees. Throws
// Violation as soon as something happens that must never.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::flow_test {

struct Violation {
  std::string what;
};

inline void require(bool ok, const char* what) {
  if (!ok) throw Violation{what};
}

class Ledger final {
 public:
  enum class End { kDone, kHandedBack, kTakenBack, kVoid };

  struct Dispatch {
    int job = 0;
    bool taken = false, ran = false, ended = false, told_over = false, held = false;
  };

  int dispatch(int job) {
    all_.push_back({job});
    return static_cast<int>(all_.size()) - 1;
  }
  void take(int token) {
    auto& item = at(token);
    require(!item.taken, "an item was taken in twice");
    require(!item.told_over, "an item was taken in after its sender was told that it ended");
    item.taken = item.held = true;
  }
  void run(int token) { at(token).ran = true; }
  void release(int token) { at(token).held = false; }
  void end(int token, End how) {
    auto& item = at(token);
    require(!item.ended, "an item ended twice at its sender");
    item.ended = true;
    if (how == End::kDone) require(item.ran, "an item is done that never ran");
    if (how != End::kHandedBack) return;
    ++handed_back;
    item.told_over = true;
    require(!item.held, "an item was handed back while the receiver holds it");
  }
  int job_of(int token) const { return all_[static_cast<std::size_t>(token)].job; }
  void require_all_ended() const {
    for (const auto& item : all_) require(item.ended, "an item never ended at its sender");
  }

  std::int64_t handed_back = 0, refused = 0, dropped = 0;

 private:
  Dispatch& at(int token) { return all_[static_cast<std::size_t>(token)]; }

  std::vector<Dispatch> all_;
};

}  // namespace headrace::flow_test
