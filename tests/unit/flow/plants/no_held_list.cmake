# A refusal or a loss is told once, not as a level that is repeated.
mistake(core/flow/window_receiver.cc [[
    recount(*sender);
  }
  answer(*sender);]] [[
    recount(*sender);
  }
  sender->due = true;]])
mistake(core/flow/window_receiver.cc [[if (announce.query) answer(*sender);]] [[if (announce.query) sender->due = true;]])
mistake(core/flow/window_refill.cc [[
    answer(sender);
    sender.echo = true;]] [[
    sender.due = sender.echo = true;]])
