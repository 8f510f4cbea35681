# The sender forgets the session when it believes the receiver dead, and uses numbers again.
mistake(core/flow/window_sender.cc [[
  away_ = true;]] [[
  away_ = true;
  session_ = {};
  limit_ = used_ = burned_ = passed_ = heard_burned_ = ask_ = 0;]])
mistake(core/flow/window_sender.cc [[
  if (state.passed > sent() || state.burned > burned_) return;  // no honest receiver counts more]] "")
