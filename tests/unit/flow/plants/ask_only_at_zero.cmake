# Burning is asked only when there is no room at all, and only of the largest reserve.
mistake(core/flow/window_refill.cc [[
  auto room = over ?]] [[
  const bool none = over || high() == occupancy_ + reserve_;
  std::uint64_t largest = 0;
  for (auto& [key, sender] : senders_) largest = std::max(largest, sender.account.reserve());
  auto room = over ?]])
mistake(core/flow/window_refill.cc [[
  for (auto& [key, sender] : senders_) ask_back(sender, unmet);]] [[
  for (auto& [key, sender] : senders_) {
    const bool chosen = unmet && none && largest > 0 && sender.account.reserve() == largest;
    ask_back(sender, chosen);
    if (chosen) largest = 0;
  }]])
