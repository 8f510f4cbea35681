#include "core/peer/node_advert.h"

#include "core/base/limits.h"
#include "core/wire/codec.h"

namespace headrace {

Bytes encode_advert(const NodeAdvert& advert) {
  Bytes bytes;
  wire::Writer out(bytes);
  out.array(2).array(advert.consumers.size());
  for (const auto& consumer : advert.consumers) {
    out.array(3).u64(consumer.number).text(consumer.topics).u64(consumer.parallel);
  }
  out.bin(advert.registrations);
  return bytes;
}

Result<NodeAdvert> decode_advert(BytesView bytes) {
  NodeAdvert advert;
  if (bytes.empty()) return advert;
  wire::Reader in(bytes);
  if (in.array(16) < 2) in.fail();
  const auto count = in.array(limits::kConsumers);
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    auto fields = in.array(16);
    job::ConsumerAdvert consumer;
    consumer.number = static_cast<std::uint32_t>(in.u64(UINT32_MAX));
    consumer.topics = in.text(limits::kTopicBytes);
    consumer.parallel = static_cast<unsigned>(in.u64(limits::kParallel));
    for (; fields > 3 && in.ok(); --fields) in.skip();
    advert.consumers.push_back(std::move(consumer));
  }
  advert.registrations = in.bin(bytes.size());
  if (!in.ok()) return fail(Code::kProtocol, "an advert cannot be read");
  return advert;
}

}  // namespace headrace
