# An item that was passed over already is taken in when it comes after all.
mistake_any_order()
mistake(core/flow/window_receiver.cc [[
  if (current && id.n <= sender->account.passed) return Arrival::kDropped;
  if (current) pass]] [[
  if (current && id.n > sender->account.passed) pass]])
