# The receiver counts arrivals; numbers passed over are ignored.
mistake_any_order()
mistake(core/flow/window_receiver.cc [[if (current && id.n <= sender->account.passed) return Arrival::kDropped;]] "")
mistake(core/flow/window_receiver.cc [[
  const bool lost = n - sender.account.passed > (arrived ? 1u : 0u);
  if (lost) answer(sender);
  sender.account.passed = n;]] [[
  (void)n;
  if (arrived) ++sender.account.passed;]])
