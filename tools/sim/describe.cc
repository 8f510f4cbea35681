#include "tools/sim/describe.h"

#include "core/wire/job.h"
#include "core/wire/kinds.h"
#include "tools/sim/plan.h"

namespace headrace::sim {
namespace {

std::string text(std::uint64_t value) { return std::to_string(value); }

std::string text(const wire::Token& token) {
  return text(token.life % 10'000) + "/" + text(token.number);
}

std::string text(const wire::Announce& said) {
  return " session " + text(said.session.counter) + " no " + text(said.number) + " L" +
         text(said.limit) + " U" + text(said.used) + " B" + text(said.burned) + " want " +
         text(said.want) + (said.query ? " query" : "");
}

std::string announce(wire::Reader& in, const std::string& name) {
  wire::WindowId window;
  wire::Announce said;
  decode(in, window);
  decode(in, said);
  return name + " to consumer " + text(window.consumer) + text(said);
}

std::string state(wire::Reader& in) {
  wire::WindowId window;
  wire::WindowState said;
  decode(in, window);
  decode(in, said);
  std::uint64_t held = 0;
  for (const auto& run : said.held) held += run.count;
  return "state of consumer " + text(window.consumer) + " session " + text(said.session.counter) +
         " L" + text(said.limit) + " P" + text(said.passed) + " B" + text(said.burned) + " ask " +
         text(said.ask) + (said.echo ? " echo" : "") + (said.prove ? " prove" : "") +
         (said.full ? " holds " + text(held) : "");
}

std::string item(wire::Reader& in) {
  wire::JobItem said;
  decode(in, said);
  return "job " + text(tag_of(said.params)) + " as " + text(said.token) + " to consumer " +
         text(said.window.consumer) + text(said.head.announce);
}

std::string ack(wire::Reader& in) {
  wire::JobDoneAck said;
  decode(in, said);
  std::string line = "accepts";
  for (const auto number : said.accepted) line += " " + text(wire::Token{said.life, number});
  if (!said.refused.empty()) line += " refuses";
  for (const auto number : said.refused) line += " " + text(wire::Token{said.life, number});
  return line;
}

std::string claims(const std::string& name, const std::vector<wire::JobClaim>& list) {
  std::string line = name;
  for (const auto& claim : list) line += " " + text(claim.token);
  return line;
}

}  // namespace

std::string describe(BytesView message) {
  using wire::Kind;
  wire::Reader in(message);
  in.array(UINT32_MAX);
  switch (static_cast<Kind>(in.u64(UINT8_MAX))) {
    case Kind::kAnnounce: return announce(in, "announce");
    case Kind::kMark: return announce(in, "mark");
    case Kind::kWindowState: return state(in);
    case Kind::kWindowOver: return "says what is over";
    case Kind::kJobItem: return item(in);
    case Kind::kJobDoneAck: return ack(in);
    case Kind::kJobDone: {
      wire::JobDone said;
      decode(in, said);
      return "done " + text(said.token) + " kind " + text(said.end);
    }
    case Kind::kJobHandBack: {
      wire::JobHandBack said;
      decode(in, said);
      return claims("hands back", said.jobs);
    }
    case Kind::kJobClaims: {
      wire::JobClaims said;
      decode(in, said);
      return claims("claims", said.jobs);
    }
    case Kind::kJobClaimsAck: {
      wire::JobClaimsAck said;
      decode(in, said);
      return claims("answers claims; refuses", said.refused);
    }
    default: return {};
  }
}

}  // namespace headrace::sim
