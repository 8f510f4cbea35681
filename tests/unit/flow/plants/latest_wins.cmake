# The receiver takes credit back by lowering the limit, and the latest message wins.
mistake(core/flow/window_refill.cc [[
  if (account.burned + over > account.ask) sender.due = true;
  account.ask = account.burned + over;]] [[
  account.limit -= over;
  sender.due = true;
  recount(sender);]])
mistake(core/flow/window_sender.cc [[limit_ = std::max(limit_, std::min(state.limit, most));]] [[
  limit_ = std::max(used_, std::min(state.limit, most));]])
