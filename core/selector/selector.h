// Selector: which events a registration wants, as a condition over their parameters and fields:
//
//   age BETWEEN 15 AND 19 AND country IN ('UK', 'US') AND position.lat > 50.5
//
// The grammar of JMS message selectors, in full; docs/SELECTORS.md is its description for users.
// Parsed once, then evaluated for each event over the encoded parameters, of which it reads what it
// needs: an event that nobody wants is never decoded.
//
// A value: copies share one immutable program. Any thread, also at the same time. Limits are
// limits::kSelector*; parsing takes time and memory in proportion to the text. Evaluation allocates
// nothing (but for a parameter that is a timestamp), takes some 8 kB of stack, never fails, and
// never reads outside its input, whatever that holds: parameters that are no valid encoding end
// where the fault is, and what comes after is absent.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/selector/truth.h"

namespace headrace {

namespace selector {
struct Program;
}

// An event as a selector sees it. Views must outlive the call.
struct SelectorInput {
  BytesView params;        // encoded (value_codec.h); empty for none
  std::string_view topic;  // $topic
  std::string_view node;   // $node: the publisher
  WallTime time;           // $time, as microseconds since 1970
  std::size_t size = 0;    // $size: bytes of the payload
  EventId id;              // $id, as 32 hex digits
};

class Selector final {
 public:
  // Selects every event, as does a blank text.
  Selector() = default;

  // kInvalid with the column (in characters, from 1), the reason, and what was found there.
  static Result<Selector> parse(std::string_view text);

  // Only what is true selects: kUnknown counts as no.
  Truth matches(const SelectorInput& input) const;
  bool selects(const SelectorInput& input) const { return matches(input) == Truth::kTrue; }

  bool selects_all() const { return !program_; }
  // The canonical form: one spelling of keywords, spaces, numbers and lists, and no parentheses
  // that change nothing. Parses to an equal selector. Empty if it selects every event.
  const std::string& text() const;
  // The parameters and fields it names, each once, by first appearance.
  std::vector<std::string> names() const;

  // By canonical text.
  friend bool operator==(const Selector& a, const Selector& b) { return a.text() == b.text(); }

 private:
  std::shared_ptr<const selector::Program> program_;  // null: every event
};

}  // namespace headrace
