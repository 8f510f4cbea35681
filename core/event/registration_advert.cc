#include "core/event/registration_advert.h"

#include "core/base/limits.h"

namespace headrace {
namespace {

constexpr std::size_t kFields = 2;
constexpr std::size_t kMaxFields = 64;  // newer versions append
constexpr std::uint64_t kPlain = 1;
constexpr std::uint64_t kSink = 2;

}  // namespace

// [version, [topic, flags, topic, flags, ...]]
void encode(wire::Writer& out, const RegistrationAdvert& advert) {
  out.array(kFields).u64(advert.version).array(advert.interests.size() * 2);
  for (const auto& interest : advert.interests) {
    out.text(interest.topic).u64((interest.plain ? kPlain : 0) | (interest.sink ? kSink : 0));
  }
}

void decode(wire::Reader& in, RegistrationAdvert& advert) {
  const auto fields = in.array(kMaxFields);
  if (fields < kFields) in.fail();
  advert.version = in.u64();
  const auto count = in.array(limits::kRegistrations * 2);
  if (count % 2 != 0) in.fail();
  for (std::size_t i = 0; i < count && in.ok(); i += 2) {
    const auto topic = in.text(limits::kTopicBytes);
    const auto flags = in.u64(kPlain | kSink);
    const bool in_order = advert.interests.empty() || advert.interests.back().topic < topic;
    if (flags == 0 || !in_order) in.fail();
    if (in.ok())
      advert.interests.push_back({std::string(topic), (flags & kPlain) != 0, (flags & kSink) != 0});
  }
  for (auto i = kFields; i < fields && in.ok(); ++i) in.skip();
}

}  // namespace headrace
