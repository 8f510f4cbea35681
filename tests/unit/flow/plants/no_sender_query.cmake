# The sender waits to be told.
mistake(core/flow/window_sender.cc [[
  if ((waiting && silent_ >= kPatience) || unheard) announce_due_ = query_due_ = true;]] [[
  (void)waiting;
  (void)unheard;]])
