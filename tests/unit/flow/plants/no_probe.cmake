# A sender whose data lane stalled is trusted again at once.
mistake(core/flow/window_refill.cc [[
  account.probe = !silent;]] "")
