// A node's public statement: the job topics that it consumes and what it holds registered. Membership carries it as
// bytes; its parts go to the owner of jobs and to the event plane.
#pragma once

#include <vector>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/job/job_intake.h"

namespace headrace {

struct NodeAdvert {
  std::vector<job::ConsumerAdvert> consumers;
  BytesView registrations;  // of core/event; into the bytes that were decoded
};

Bytes encode_advert(const NodeAdvert& advert);
Result<NodeAdvert> decode_advert(BytesView bytes);

}  // namespace headrace
