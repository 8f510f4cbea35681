#include "nodes/node.h"

#include <utility>

#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/flow/marks.h"
#include "core/topic/topic_pattern.h"
#include "core/value/value_codec.h"
#include "nodes/runtime/clock.h"
#include "nodes/runtime/runtime.h"

namespace headrace {

namespace {

tl::unexpected<Error> closed() { return fail(Code::kClosed, "the node is closed"); }

tl::unexpected<Error> no_function(const char* what) {
  return fail(Code::kInvalid, std::string(what) + " is empty; give a function");
}

Result<job::ConsumerConfig> consumer_config(const std::string& topics,
                                            const ConsumerOptions& options) {
  auto pattern = TopicPattern::parse(topics);
  if (!pattern) return fail(pattern.error());
  if (options.parallel == 0 || options.parallel > limits::kParallel) {
    return fail(Code::kInvalid, "parallel " + std::to_string(options.parallel) + ": give 1 to " +
                                    std::to_string(limits::kParallel));
  }
  job::ConsumerConfig config{std::move(*pattern), options.parallel, {}};
  if (!options.hwm && !options.lwm) return config;
  if (!options.hwm) return fail(Code::kInvalid, "lwm was given without hwm; give both or none");
  auto marks = make_marks(*options.hwm, options.lwm, options.parallel);
  if (!marks) return fail(marks.error());
  config.marks = *marks;
  return config;
}

}  // namespace

// --- JobHandle

Result<JobInfo> JobHandle::info(Millis timeout) const {
  if (!runtime_) return closed();
  return runtime_->get(id_, timeout);
}

Result<Value> JobHandle::result(std::optional<Millis> timeout) const {
  if (!runtime_) return closed();
  auto info = runtime_->wait(id_, timeout);
  if (!info) return fail(info.error());
  if (info->state == JobState::kSucceeded) return std::move(info->result).value_or(Value{});
  return fail(Code::kJobFailed, "job " + id_.hex() + " ended " +
                                    std::string(to_string(info->state)) +
                                    (info->error.empty() ? "" : ": " + info->error));
}

// --- Registration

Registration::Registration(std::shared_ptr<runtime::RegistrationHandle> handle)
    : handle_(std::move(handle)) {}
Registration::Registration(Registration&&) noexcept = default;

Registration& Registration::operator=(Registration&& other) noexcept {
  Registration old(std::move(*this));
  handle_ = std::move(other.handle_);
  return *this;
}

Registration::~Registration() {
  if (handle_ && !handle_->kept) unregister();
}

std::uint64_t Registration::id() const { return handle_ ? handle_->id : 0; }

void Registration::keep() {
  if (handle_) handle_->kept = true;
}

bool Registration::unregister() {
  const auto runtime = handle_ ? handle_->runtime.lock() : nullptr;
  return runtime && runtime->plane().remove_registration(handle_->id);
}

// --- Consumer

Consumer::Consumer(std::shared_ptr<runtime::ConsumerHandle> handle) : handle_(std::move(handle)) {}
Consumer::Consumer(Consumer&&) noexcept = default;

Consumer& Consumer::operator=(Consumer&& other) noexcept {
  Consumer old(std::move(*this));
  handle_ = std::move(other.handle_);
  return *this;
}

Consumer::~Consumer() {
  if (handle_ && !handle_->kept) stop();
}

void Consumer::keep() {
  if (handle_) handle_->kept = true;
}

void Consumer::stop() {
  if (handle_) handle_->stop();
}

// --- Jobs

Result<JobHandle> Jobs::add(JobSpec spec, Millis timeout) {
  const auto runtime = runtime_.lock();
  if (!runtime) return closed();
  auto job = runtime::to_new_job(std::move(spec));
  if (!job) return fail(job.error());
  std::vector<job::NewJob> jobs;
  jobs.push_back(std::move(*job));
  Level level{};
  const auto ids = runtime->add(std::move(jobs), timeout, level);
  if (!ids) return fail(ids.error());
  return JobHandle(runtime, ids->front(), level);
}

Result<void> Jobs::add_async(JobSpec spec, std::function<void(Result<JobHandle>)> done) {
  if (!done) return no_function("`done`");
  const auto runtime = runtime_.lock();
  if (!runtime) return closed();
  auto job = runtime::to_new_job(std::move(spec));
  if (!job) return fail(job.error());
  return runtime->add_async(std::move(*job), std::move(done));
}

Result<std::vector<JobHandle>> Jobs::add_many(std::vector<JobSpec> specs, Millis timeout) {
  const auto runtime = runtime_.lock();
  if (!runtime) return closed();
  if (specs.size() > limits::kAddMany) {
    return fail(Code::kInvalid, std::to_string(specs.size()) + " jobs at once; at most " +
                                    std::to_string(limits::kAddMany) + " are taken");
  }
  std::vector<JobHandle> handles;
  if (specs.empty()) return handles;
  std::vector<job::NewJob> jobs;
  jobs.reserve(specs.size());
  for (auto& spec : specs) {
    auto job = runtime::to_new_job(std::move(spec));
    if (!job) {
      return fail(job.error().code, "job " + std::to_string(jobs.size() + 1) +
                                        " of the list: " + job.error().message);
    }
    jobs.push_back(std::move(*job));
  }
  Level level{};
  const auto ids = runtime->add(std::move(jobs), timeout, level);
  if (!ids) return fail(ids.error());
  handles.reserve(ids->size());
  for (const auto& id : *ids) handles.emplace_back(runtime, id, level);
  return handles;
}

Result<JobInfo> Jobs::get(JobId id, Millis timeout) const {
  const auto runtime = runtime_.lock();
  return runtime ? runtime->get(id, timeout) : Result<JobInfo>(closed());
}

Result<std::vector<JobInfo>> Jobs::find(JobFilter filter, Millis timeout) const {
  const auto runtime = runtime_.lock();
  if (!runtime) return closed();
  return runtime->find(std::move(filter), timeout);
}

// --- Node

Node::Node(std::shared_ptr<runtime::Runtime> runtime)
    : runtime_(std::move(runtime)), jobs_(std::make_unique<Jobs>(runtime_)) {}
Node::Node(Node&&) noexcept = default;

Node& Node::operator=(Node&& other) noexcept {
  Node old(std::move(*this));
  runtime_ = std::move(other.runtime_);
  jobs_ = std::move(other.jobs_);
  return *this;
}

Node::~Node() {
  if (!runtime_) return;
  // From a callback this could never end: the callback would wait for itself.
  const auto ended = runtime_->close(Millis{0});
  HEADRACE_CHECK(ended.has_value());
}

Result<Node> Node::open(NodeOptions options) { return runtime::open_node(std::move(options), {}); }

Result<Node> runtime::open_node(NodeOptions options, InternalOptions internal) {
  auto runtime = Runtime::open(std::move(options), std::move(internal));
  if (!runtime) return fail(runtime.error());
  return Node(std::move(*runtime));
}

Result<void> Node::close(Millis drain) { return runtime_->close(drain); }
void Node::stop() { runtime_->stop(); }
Result<void> Node::run() { return runtime_->run(); }

const NodeId& Node::id() const { return runtime_->setup().identity.id; }
const std::string& Node::name() const { return runtime_->setup().options.name; }
const std::string& Node::endpoint() const { return runtime_->setup().control; }

Result<void> Node::wait_ready(Millis timeout) {
  return runtime_->board().wait_ready(runtime::deadline_after(runtime::mono_now(), timeout));
}

Result<Registration> Node::on(std::string topic, std::function<void(const Event&)> callback,
                              OnOptions options) {
  if (!callback) return no_function("the callback");
  const auto id = runtime_->plane().add_registration(topic, options.sink, std::move(callback));
  if (!id) return fail(id.error());
  return Registration(std::make_shared<runtime::RegistrationHandle>(
      runtime::RegistrationHandle{runtime_, *id, false}));
}

Result<Consumer> Node::consume(std::string topics, std::function<JobOutcome(RunningJob&)> handler,
                               ConsumerOptions options) {
  if (!handler) return no_function("the handler");
  auto config = consumer_config(topics, options);
  if (!config) return fail(config.error());
  auto handle = runtime_->consume(std::move(*config), std::move(handler));
  if (!handle) return fail(handle.error());
  return Consumer(std::move(*handle));
}

Result<Published> Node::publish(std::string_view topic, const ParamSet& params, BytesView payload,
                                Millis timeout) {
  const auto encoded = encode(params);
  if (!encoded) return fail(encoded.error());
  return runtime_->plane().publish(topic, *encoded, payload, timeout);
}

Result<Published> Node::try_publish(std::string_view topic, const ParamSet& params,
                                    BytesView payload) {
  const auto encoded = encode(params);
  if (!encoded) return fail(encoded.error());
  return runtime_->plane().try_publish(topic, *encoded, payload);
}

std::size_t Node::match_count(std::string_view topic) const {
  return runtime_->plane().match_count(topic);
}

std::vector<Member> Node::members() const { return runtime_->board().members(); }
Jobs& Node::jobs() { return *jobs_; }

}  // namespace headrace
