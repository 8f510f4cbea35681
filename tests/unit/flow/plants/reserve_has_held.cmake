# Held items are part of the reserve, and so subtracted twice.
mistake(core/flow/window_refill.cc [[const bool over = over_high();  // a mark was lowered]] [[
  const bool over = 2 * occupancy_ + reserve_ > high();]])
mistake(core/flow/window_refill.cc [[!period && occupancy_ + reserve_ > low()]] [[!period && 2 * occupancy_ + reserve_ > low()]])
mistake(core/flow/window_refill.cc [[high() - occupancy_ - reserve_]] [[high() - 2 * occupancy_ - reserve_]])
