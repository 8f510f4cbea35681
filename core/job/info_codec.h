// JobInfo in the replies of calls.
#pragma once

#include <vector>

#include "core/job/job.h"

namespace headrace::job {

Bytes encode_infos(const std::vector<JobInfo>& infos);
Result<std::vector<JobInfo>> decode_infos(BytesView body);

}  // namespace headrace::job
