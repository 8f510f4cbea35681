# Credit that is unused for two periods ends the session, though its sender answers.
mistake(core/flow/window_receiver.cc [[
  sender->account.unanswered = 0;]] "")
mistake(core/flow/window_refill.cc [[
  account.unanswered = account.ask > account.burned ? account.unanswered + 1 : 0;
  const bool other_short = short_ > (sender.counted_short ? 1u : 0u);]] [[
  const bool other_short = short_ > (sender.counted_short ? 1u : 0u);
  account.unanswered = other_short && account.reserve() > 0 ? account.unanswered + 1 : 0;]])
