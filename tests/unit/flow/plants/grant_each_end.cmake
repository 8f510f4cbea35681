# Credit is given at each ending, however much is in reserve.
mistake(core/flow/window_refill.cc [[
  if (!over && short_ == 0 && !period && occupancy_ + reserve_ > low()) return;]] [[
  (void)period;]])
