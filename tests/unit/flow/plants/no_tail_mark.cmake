# Nothing follows the last item, so that its loss shows to nobody.
mistake(core/flow/window_sender.cc [[if (behind_ >= kPatience) mark_due_ = true;]] "")
