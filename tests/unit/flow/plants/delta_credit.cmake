# A grant says "n more" instead of a cumulative limit.
mistake(core/flow/window_receiver.h [[
    std::uint64_t limit = 0, passed = 0, burned = 0;
    std::uint64_t used]] [[
    std::uint64_t limit = 0, passed = 0, burned = 0;
    mutable std::uint64_t told = 0;
    std::uint64_t used]])
mistake(core/flow/window_receiver.cc [[
  state.limit = account.limit;]] [[
  state.limit = account.limit - account.told;
  account.told = account.limit;]])
mistake(core/flow/window_sender.cc [[limit_ = std::max(limit_, std::min(state.limit, most));]] [[
  limit_ += std::min(state.limit, most);]])
