# Items of an old session, and those over the high mark, are taken in.
mistake_any_order()
mistake(core/flow/window_receiver.cc [[if (!current || !room) {]] [[if (!current && !room) {]])
