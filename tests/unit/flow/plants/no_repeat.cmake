# The receiver states its level only when it changes.
mistake(core/flow/window_refill.cc [[
    answer(sender);
    sender.echo = true;]] "")
