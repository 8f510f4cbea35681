#include "nodes/client/client.h"

#include <algorithm>
#include <future>
#include <utility>

#include "core/base/limits.h"
#include "core/job/info_codec.h"
#include "core/job/job_owner.h"
#include "core/topic/topic.h"
#include "core/topic/topic_pattern.h"
#include "core/value/value_codec.h"
#include "core/wire/call.h"
#include "nodes/client/connection.h"
#include "nodes/member_row.h"

namespace headrace {
namespace {

using client::Request;
using client::Steady;
using wire::PayloadRef;

constexpr Millis kWaitRound{1000};   // the node answers at the latest, ended or not
constexpr Millis kAnswerTime{5000};  // for a node to answer beyond that

Steady::time_point end_of(Millis timeout) {
  constexpr Millis kLongest = std::chrono::hours(24 * 365);  // what the clock can add
  return Steady::now() + std::clamp(timeout, Millis{0}, kLongest);
}

Result<job::NewJob> checked(JobSpec spec) {
  auto params = encode(spec.params);
  if (!params) return fail(params.error());
  job::NewJob job;
  job.id = spec.id;
  job.topic = std::move(spec.topic);
  // Out of its range a priority becomes one that check_new refuses, not one that fits by chance.
  job.priority =
      static_cast<std::uint8_t>(spec.priority < 0 || spec.priority > 9 ? 255 : spec.priority);
  job.not_before = spec.not_before;
  job.max_attempts = spec.max_attempts;
  job.level = spec.level;
  job.params = std::move(*params);
  job.payload = std::move(spec.payload);
  if (auto good = check_new(job); !good) return fail(good.error());
  return job;
}

Error malformed() {
  return {Code::kProtocol, "the node's answer is malformed: is it of another version of Headrace?"};
}

template <typename Body>
Result<Body> decoded(const Result<Bytes>& bytes) {
  if (!bytes) return fail(bytes.error());
  Body body;
  if (!wire::decode_body(*bytes, body)) return fail(malformed());
  return body;
}

Result<JobInfo> one_info(const Result<Bytes>& body) {
  if (!body) return fail(body.error());
  auto infos = job::decode_infos(*body);
  if (!infos) return fail(infos.error());
  if (infos->size() != 1) return fail(malformed());
  return std::move(infos->front());
}

}  // namespace

ClientSubscription::~ClientSubscription() {
  if (const auto connection = connection_.lock()) connection->unsubscribe(number_);
}

Client::Client(std::shared_ptr<client::Connection> connection)
    : connection_(std::move(connection)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&& other) noexcept {
  if (connection_) connection_->close();
  connection_ = std::move(other.connection_);
  return *this;
}
Client::~Client() {
  if (connection_) connection_->close();
}

Result<Client> Client::connect(ClientOptions options) {
  const auto endpoint = transport::Endpoint::parse(options.endpoint);
  if (!endpoint) return fail(endpoint.error());
  if (auto good = check_dialable(*endpoint); !good) return fail(good.error());
  auto connection = client::Connection::open(*endpoint, options.cluster, options.timeout);
  if (!connection) return fail(connection.error());
  return Client(std::move(*connection));
}

const NodeId& Client::node() const { return connection_->greeting().id; }
const std::string& Client::node_name() const { return connection_->greeting().name; }

Result<void> Client::add_async(JobSpec spec, std::function<void(Result<JobId>)> done,
                               Millis timeout) {
  const bool named = spec.id.has_value();  // it may have been added before
  auto job = checked(std::move(spec));
  if (!job) return fail(job.error());
  const JobId id = job->id ? *job->id : connection_->new_job_id();
  Request request;
  request.lane = wire::Lane::kData;
  request.deadline = end_of(timeout);
  request.adds = id;
  request.payload = std::move(job->payload);
  request.done = [id, done = std::move(done)](const Result<Bytes>& body) {
    if (body) return done(id);
    done(fail(body.error()));
  };
  request.encode = [id, named, add = std::move(*job)](Bytes& out, std::uint64_t call, bool repeat,
                                                      const PayloadRef& payload) {
    encode(out, wire::CallAddJobs{call,
                                  repeat || named,
                                  {{id, add.topic, add.priority, add.not_before, add.max_attempts,
                                    static_cast<std::uint8_t>(add.level), add.params, payload}}});
  };
  return connection_->call(std::move(request));
}

Result<JobId> Client::add(JobSpec spec, Millis timeout) {
  std::promise<Result<JobId>> promise;
  auto answer = promise.get_future();
  auto called = add_async(
      std::move(spec), [&promise](Result<JobId> id) { promise.set_value(std::move(id)); }, timeout);
  if (!called) return fail(called.error());
  return answer.get();
}

Result<JobInfo> Client::get(JobId id, Millis timeout) {
  Request request;
  request.deadline = end_of(timeout);
  request.encode = [id](Bytes& out, std::uint64_t call, bool, const PayloadRef&) {
    encode(out, wire::CallGetJob{call, id});
  };
  return one_info(connection_->ask(std::move(request)));
}

Result<std::vector<JobInfo>> Client::find(JobFilter filter, Millis timeout) {
  if (!filter.topic.empty()) {
    if (auto pattern = TopicPattern::parse(filter.topic); !pattern) return fail(pattern.error());
  }
  if (filter.limit > limits::kFindLimit) {
    return fail(Code::kInvalid, "limit " + std::to_string(filter.limit) + " is more than the " +
                                    std::to_string(limits::kFindLimit) +
                                    " jobs that one answer takes");
  }
  Request request;
  request.deadline = end_of(timeout);
  request.encode = [filter = std::move(filter)](Bytes& out, std::uint64_t call, bool,
                                                const PayloadRef&) {
    const auto state = filter.state ? static_cast<std::uint8_t>(*filter.state) : std::uint8_t{0};
    encode(out, wire::CallFindJobs{call, state, filter.topic, filter.limit});
  };
  const auto body = connection_->ask(std::move(request));
  if (!body) return fail(body.error());
  return job::decode_infos(*body);
}

Result<JobInfo> Client::wait(JobId id, std::optional<Millis> timeout) {
  const auto end = timeout ? end_of(*timeout) : Steady::time_point::max();
  for (;;) {
    const auto now = Steady::now();
    const auto left = std::chrono::ceil<Millis>(std::max(end - now, Steady::duration{0}));
    const auto patience = std::min(kWaitRound, left);
    Request request;
    request.deadline = std::min(end, now + kWaitRound) + kAnswerTime;
    request.patience = patience;
    request.encode = [id, patience](Bytes& out, std::uint64_t call, bool, const PayloadRef&) {
      encode(out, wire::CallWaitJob{call, id, patience});
    };
    auto info = one_info(connection_->ask(std::move(request)));
    if (info && is_terminal(info->state)) return info;
    const bool silent =
        !info && (info.error().code == Code::kTimeout || info.error().code == Code::kUnreachable);
    if (!info && !silent) return info;
    if (Steady::now() < end) continue;
    if (silent) return info;
    return fail(Code::kTimeout, "job " + id.hex() + " is " + std::string(to_string(info->state)) +
                                    " still: it has not ended in the time given");
  }
}

Result<Published> Client::publish(std::string_view topic, const ParamSet& params, BytesView payload,
                                  Millis timeout) {
  if (auto good = Topic::check(topic); !good) return fail(good.error());
  if (payload.size() > limits::kEventPayloadBytes) {
    return fail(Code::kInvalid, "the payload has " + std::to_string(payload.size()) +
                                    " bytes; at most " +
                                    std::to_string(limits::kEventPayloadBytes) +
                                    " are taken: store it elsewhere and send where it is");
  }
  auto encoded = encode(params);
  if (!encoded) return fail(encoded.error());
  Request request;
  request.lane = wire::Lane::kData;
  request.deadline = end_of(timeout) + kAnswerTime;
  request.patience = timeout;
  request.repeatable = false;
  request.payload = Bytes(payload);
  request.encode = [topic = std::string(topic), bytes = std::move(*encoded), timeout](
                       Bytes& out, std::uint64_t call, bool, const PayloadRef& ref) {
    encode(out, wire::CallPublish{call, topic, bytes, ref, timeout});
  };
  const auto body = decoded<wire::PublishedBody>(connection_->ask(std::move(request)));
  if (!body) return fail(body.error());
  return Published{body->id, body->destinations, body->dropped};
}

Result<ClientSubscription> Client::subscribe(std::string topic, OnOptions options, Millis timeout) {
  if (auto pattern = TopicPattern::parse(topic); !pattern) return fail(pattern.error());
  const auto number = connection_->new_subscription();
  auto queue = connection_->subscribe(number, topic, options.sink, end_of(timeout));
  if (!queue) return fail(queue.error());
  return ClientSubscription(connection_, number, std::move(*queue));
}

Result<std::vector<Member>> Client::members(Millis timeout) {
  Request request;
  request.deadline = end_of(timeout);
  request.encode = [](Bytes& out, std::uint64_t call, bool, const PayloadRef&) {
    encode(out, wire::CallMembers{call});
  };
  auto rows = decoded<std::vector<wire::MemberRow>>(connection_->ask(std::move(request)));
  if (!rows) return fail(rows.error());
  std::vector<Member> members;
  members.reserve(rows->size());
  const auto now = std::chrono::floor<Micros>(std::chrono::system_clock::now());
  for (auto& row : *rows) members.push_back(to_member(std::move(row), now));
  return members;
}

}  // namespace headrace
