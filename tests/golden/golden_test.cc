// The protocol's bytes, against vectors that were written from docs/PROTOCOL.md by hand: encoding gives them, and
// decoding gives the fields.
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <sstream>

#include "core/event/registration_advert.h"
#include "core/job/info_codec.h"
#include "core/peer/node_advert.h"
#include "core/wire/beacon.h"
#include "core/wire/blob.h"
#include "core/wire/call.h"
#include "core/wire/event.h"
#include "core/wire/event_frame.h"
#include "core/wire/frame.h"
#include "core/wire/member.h"

namespace headrace::wire {
namespace {

const std::map<std::string, Bytes>& vectors() {
  static const auto all = [] {
    std::map<std::string, Bytes> read;
    std::map<std::string, std::string> digits;
    std::ifstream file(HEADRACE_GOLDEN);
    std::string line, name;
    while (std::getline(file, line)) {
      line = line.substr(0, line.find('#'));
      if (!line.empty() && line[0] == '[') {
        name = line.substr(1, line.find(']') - 1);
        REQUIRE_FALSE(digits.contains(name));
        digits[name];
        continue;
      }
      for (const char c : line) {
        if (!std::isspace(static_cast<unsigned char>(c))) digits[name] += c;
      }
    }
    for (const auto& [key, hex] : digits) {
      if (!key.empty()) read[key] = from_hex(hex, hex.size() / 2).value();
    }
    return read;
  }();
  return all;
}

const Bytes& golden(const std::string& name) { return vectors().at(name); }

template <typename Id>
Id id_of(unsigned char byte, unsigned char last) {
  Id id;
  id.bytes.fill(byte);
  id.bytes[15] = last;
  return id;
}
const NodeId kOne = id_of<NodeId>(0x11, 0x11);
const NodeId kTwo = id_of<NodeId>(0x22, 0x22);
const JobId kJob = id_of<JobId>(0x33, 0x33);
const EventId kEvent = id_of<EventId>(0x44, 0x44);
const WallTime kTime{Micros{1'790'000'000'123'456}};
const Token kToken{0x0102030405060708, 9};
const Bytes kParams("\x81\xa1k\x01", 4);

Update alive() {
  Update update;
  update.id = kOne;
  update.numbers = {1000, 0};
  update.advert_version = 5;
  update.about = std::make_shared<Description>(
      Description{"one", "c:1", "d:2", {{"k", "v"}}, true, false, 1, 1});
  return update;
}

Update about_two(UpdateKind kind, std::uint64_t refutation = 0) {
  Update update;
  update.kind = kind;
  update.id = kTwo;
  update.numbers = {2000, refutation};
  if (kind == UpdateKind::kSuspect || kind == UpdateKind::kDead) update.by = kOne;
  if (kind == UpdateKind::kAdvert) update.advert_version = 6;
  return update;
}

void check_member(const std::string& name, const MemberMessage& message) {
  INFO(name);
  CHECK(to_hex(encode_member(message)) == to_hex(golden(name)));
  const auto decoded = decode_member(golden(name));
  REQUIRE(decoded);
  CHECK(*decoded == message);
}

// Encodes, compares, and gives a reader behind kind.
template <typename Message>
Reader check_bytes(const std::string& name, Kind kind, const Message& message) {
  Bytes bytes;
  encode(bytes, message);
  CHECK(to_hex(bytes) == to_hex(golden(name)));
  Reader in(golden(name));
  in.array(64);
  CHECK(in.u64() == number(kind));
  return in;
}

Bytes window_message(Kind kind, auto&& write) {
  Bytes bytes;
  Writer out(bytes);
  out.array(3).u64(number(kind));
  encode(out, WindowId{1, "default"});
  write(out);
  return bytes;
}

Bytes lane_message(Kind kind, const auto& message) {
  Bytes bytes;
  Writer out(bytes);
  out.array(2).u64(number(kind));
  encode(out, message);
  return bytes;
}

Reader behind(const std::string& name) {
  Reader in(golden(name));
  in.array(64);
  in.u64();
  return in;
}

}  // namespace

bool operator==(const JobClaim& a, const JobClaim& b) {
  return a.job_number == b.job_number && a.token == b.token;
}

TEST_CASE("A frame's head and what follows have the bytes of the specification") {
  FrameBuilder builder({1, cluster_hash("default"), kOne, 1000, kTwo, 2000});
  Bytes hello;
  encode(hello, CallHello{5});
  builder.append(hello);
  CHECK(to_hex(builder.take()) == to_hex(golden("frame")));
  FrameReader reader(golden("frame"));
  CHECK(reader.head() == FrameHead{1, 0xebada5168620c5fe, kOne, 1000, kTwo, 2000});
  CHECK(reader.next() == hello);
  CHECK_FALSE(reader.next());
  CHECK(reader.ok());
}

TEST_CASE("Messages of membership have the bytes of the specification") {
  check_member("hello", Hello{7, alive(), {}});
  check_member("hello_ack", HelloAck{7, alive(), about_two(UpdateKind::kDead, 1)});
  check_member("reject", Reject{7, RejectReason::kFull, "full"});
  check_member("ping", Ping{256, "c:1", {about_two(UpdateKind::kSuspect)}});
  check_member("ack", Ack{256, {about_two(UpdateKind::kLeft)}});
  check_member("ping_request", PingRequest{7, kTwo, "c:2", 500});
  check_member("nack", Nack{7});
  check_member("gossip", Gossip{{about_two(UpdateKind::kAdvert)}});
  check_member("sync_digest", SyncDigest{7, 0x0123456789abcdef});
  check_member("sync_need", SyncNeed{7, 0, 1, {{kTwo, UpdateKind::kAlive, {2000, 0}, 5}}});
  check_member("sync_state", SyncState{7, true, false, {}, {kTwo}});
  check_member("leave", Leave{{1000, 2}});
  check_member("advert_get", AdvertGet{kTwo, 2000, 4, 0, "c:1"});
  check_member("advert", AdvertChunk{kTwo, 2000, 5, 0, 1, Bytes("\x01\x02\x03", 3)});
}

TEST_CASE("An advert has the bytes of the specification") {
  Bytes registrations;
  Writer out(registrations);
  const RegistrationAdvert interests{3, {{"a.b", true, true}}};
  encode(out, interests);
  CHECK(to_hex(encode_advert({{{1, "work", 2}}, registrations})) == to_hex(golden("advert_body")));
  const auto advert = decode_advert(golden("advert_body"));
  REQUIRE(advert);
  CHECK(advert->consumers.at(0).topics == "work");
  CHECK(advert->consumers.at(0).parallel == 2);
  Reader in(advert->registrations);
  RegistrationAdvert read;
  decode(in, read);
  CHECK(in.ok());
  CHECK(read == interests);
}

TEST_CASE("Messages of windows have the bytes of the specification") {
  const Announce announce{5, {2000, 2}, 16, 12, 3, 64, true};
  CHECK(to_hex(window_message(Kind::kAnnounce, [&](Writer& out) { encode(out, announce); })) ==
        to_hex(golden("announce")));
  WindowId id;
  Announce read;
  auto in = behind("announce");
  decode(in, id);
  decode(in, read);
  CHECK(in.ok());
  CHECK(id == WindowId{1, "default"});
  CHECK(read == announce);

  const Mark mark{{6, {2000, 2}, 16, 12, 3, 0, false}};
  CHECK(to_hex(window_message(Kind::kMark, [&](Writer& out) { encode(out, mark); })) ==
        to_hex(golden("mark")));
  Mark read_mark;
  in = behind("mark");
  decode(in, id);
  decode(in, read_mark);
  CHECK(read_mark == mark);
  CHECK(read_mark.last() == 9);

  const WindowOver over{2000, {{1, 3, 2}, {2, 1, 1}}};
  CHECK(to_hex(window_message(Kind::kWindowOver, [&](Writer& out) { encode(out, over); })) ==
        to_hex(golden("window_over")));
  WindowOver read_over;
  in = behind("window_over");
  decode(in, id);
  decode(in, read_over);
  CHECK(in.ok());
  CHECK(read_over == over);

  WindowState full{{2000, 2}, 1000, 16, 9, 3, 5, true, false, true, {{1, 5, 1}, {2, 8, 2}}};
  WindowState brief{{2000, 2}, 1000, 16, 9, 3, 0, false, true, false, {}};
  for (const auto& [name, state] :
       {std::pair("window_state", full), std::pair("window_state_short", brief)}) {
    CHECK(to_hex(window_message(Kind::kWindowState, [&](Writer& out) { encode(out, state); })) ==
          to_hex(golden(name)));
    WindowState read_state;
    in = behind(name);
    decode(in, id);
    decode(in, read_state);
    CHECK(in.ok());
    CHECK(read_state == state);
  }
}

TEST_CASE("A piece of a payload has the bytes of the specification") {
  auto in = check_bytes("blob", Kind::kBlob, BlobPiece{3, 2, 5, "cde"});
  BlobPiece piece;
  REQUIRE(decode(in, piece));
  CHECK(piece.blob == 3);
  CHECK(piece.offset == 2);
  CHECK(piece.total == 5);
  CHECK(piece.bytes == "cde");
}

TEST_CASE("A dispatch has the bytes of the specification") {
  JobItem item;
  item.window = {1, "default"};
  item.head.announce = {5, {2000, 2}, 16, 12, 3, 64, false};
  item.token = kToken;
  item.job_number = 300;
  item.id = kJob;
  item.topic = "a.b";
  item.attempt = 2;
  item.deliveries = 3;
  item.params = kParams;
  item.payload.inlined = "hi";
  auto in = check_bytes("job_item", Kind::kJobItem, item);
  JobItem read;
  REQUIRE(decode(in, read));
  CHECK(read.window == item.window);
  CHECK(read.head == item.head);
  CHECK(read.head.id() == ItemId{{2000, 2}, 9});
  CHECK(read.token == kToken);
  CHECK(read.job_number == 300);
  CHECK(read.id == kJob);
  CHECK(read.topic == "a.b");
  CHECK(read.attempt == 2);
  CHECK(read.deliveries == 3);
  CHECK(read.params == kParams);
  CHECK(read.payload.inlined == "hi");
  CHECK(read.payload.blob == 0);
}

TEST_CASE("Completions and their answers have the bytes of the specification") {
  const Bytes result("\x2a", 1);
  auto in = check_bytes("job_done", Kind::kJobDone, JobDone{kToken, 300, 0, result, {}, {}});
  JobDone done;
  REQUIRE(decode(in, done));
  CHECK(done.token == kToken);
  CHECK(done.job_number == 300);
  CHECK(done.end == 0);
  CHECK(done.result == result);
  CHECK_FALSE(done.retry_after);
  in = check_bytes("job_done_failed", Kind::kJobDone,
                   JobDone{kToken, 300, 1, {}, "nope", Millis{5000}});
  REQUIRE(decode(in, done));
  CHECK(done.end == 1);
  CHECK(done.error == "nope");
  CHECK(done.retry_after == Millis{5000});
  in = check_bytes("job_done_ack", Kind::kJobDoneAck, JobDoneAck{kToken.life, {9, 10}, {11}});
  JobDoneAck ack;
  REQUIRE(decode(in, ack));
  CHECK(ack.life == kToken.life);
  CHECK(ack.accepted == std::vector<std::uint64_t>{9, 10});
  CHECK(ack.refused == std::vector<std::uint64_t>{11});
}

TEST_CASE("Hand-backs and claims have the bytes of the specification") {
  auto in = check_bytes("job_hand_back", Kind::kJobHandBack, JobHandBack{{{300, kToken}}});
  JobHandBack back;
  REQUIRE(decode(in, back));
  CHECK(back.jobs == std::vector<JobClaim>{{300, kToken}});
  in = check_bytes("job_claims", Kind::kJobClaims,
                   JobClaims{{{300, kToken}, {301, {kToken.life, 10}}}, 0, 4096});
  JobClaims claims;
  REQUIRE(decode(in, claims));
  CHECK(claims.jobs == std::vector<JobClaim>{{300, kToken}, {301, {kToken.life, 10}}});
  CHECK((claims.first == 0 && claims.last == 4096));
  in = check_bytes("job_claims_ack", Kind::kJobClaimsAck, JobClaimsAck{});
  JobClaimsAck ack;
  REQUIRE(decode(in, ack));
  CHECK(ack.refused.empty());
}

TEST_CASE("Events and their lanes have the bytes of the specification") {
  const Event event{1, kTime, "a.b", 2, {}, "hi", 0};
  auto in = check_bytes("event", Kind::kEvent, event);
  Event read;
  REQUIRE(decode(in, read));
  CHECK(read == event);
  const EventGone gone{"a.b", 2, 5};
  in = check_bytes("event_gone", Kind::kEventGone, gone);
  EventGone read_gone;
  REQUIRE(decode(in, read_gone));
  CHECK(read_gone == gone);

  const LaneState state{{2000, 1}, 1000, 4 << 20, 100, 50, 7};
  CHECK(to_hex(lane_message(Kind::kLaneState, state)) == to_hex(golden("lane_state")));
  LaneState read_state;
  in = behind("lane_state");
  decode(in, read_state);
  CHECK(read_state == state);
  const LaneMark mark{{2000, 1}, 100};
  CHECK(to_hex(lane_message(Kind::kLaneMark, mark)) == to_hex(golden("lane_mark")));
  LaneMark read_mark;
  in = behind("lane_mark");
  decode(in, read_mark);
  CHECK(read_mark == mark);
  const LaneQuery query{{2000, 1}, true};
  CHECK(to_hex(lane_message(Kind::kLaneQuery, query)) == to_hex(golden("lane_query")));
  LaneQuery read_query;
  in = behind("lane_query");
  decode(in, read_query);
  CHECK(read_query == query);

  Bytes frame;
  const auto begin = open_event_frame(frame);
  encode(frame, Event{1, kTime, "a.b", 2, {}, {}, 0});
  const LaneHead head{{2000, 1}, 100, frame.size() - begin};
  close_event_frame(frame, begin, head);
  CHECK(to_hex(frame) == to_hex(golden("event_frame")));
  EventFrame events;
  in = behind("event_frame");
  REQUIRE(decode(in, events));
  CHECK(events.lane == head);
  CHECK(events.events.size() == 22);
}

TEST_CASE("Calls have the bytes of the specification") {
  CallAddJobs add{5, true, {}};
  add.jobs.push_back({kJob, "a.b", 4, {}, 10, 0, {}, {"hi", 0}});
  add.jobs.push_back({id_of<JobId>(0x33, 0x34), "a.b", 9, kTime, 1, 2, kParams, {{}, 3}});
  auto in = check_bytes("call_add_jobs", Kind::kCallAddJobs, add);
  CallAddJobs read;
  REQUIRE(decode(in, read));
  CHECK(read.call == 5);
  CHECK(read.repeat);
  REQUIRE(read.jobs.size() == 2);
  CHECK(read.jobs[0].id == kJob);
  CHECK(read.jobs[0].topic == "a.b");
  CHECK(read.jobs[0].priority == 4);
  CHECK_FALSE(read.jobs[0].not_before);
  CHECK(read.jobs[0].max_attempts == 10);
  CHECK(read.jobs[0].level == 0);
  CHECK(read.jobs[0].payload.inlined == "hi");
  CHECK(read.jobs[1].priority == 9);
  CHECK(read.jobs[1].not_before == kTime);
  CHECK(read.jobs[1].level == 2);
  CHECK(read.jobs[1].params == kParams);
  CHECK(read.jobs[1].payload.blob == 3);

  in = check_bytes("call_get_job", Kind::kCallGetJob, CallGetJob{5, kJob});
  CallGetJob get;
  REQUIRE(decode(in, get));
  CHECK((get.call == 5 && get.id == kJob));
  in = check_bytes("call_find_jobs", Kind::kCallFindJobs, CallFindJobs{5, 3, "a.b", 100});
  CallFindJobs find;
  REQUIRE(decode(in, find));
  CHECK((find.call == 5 && find.state == 3 && find.topic == "a.b" && find.limit == 100));
  in = check_bytes("call_wait_job", Kind::kCallWaitJob, CallWaitJob{5, kJob, Millis{1000}});
  CallWaitJob wait;
  REQUIRE(decode(in, wait));
  CHECK((wait.call == 5 && wait.id == kJob && wait.patience == Millis{1000}));
  in = check_bytes("call_members", Kind::kCallMembers, CallMembers{5});
  CallMembers members;
  REQUIRE(decode(in, members));
  CHECK(members.call == 5);
  in = check_bytes("call_publish", Kind::kCallPublish,
                   CallPublish{5, "a.b", {}, {"hi", 0}, Millis{1000}});
  CallPublish publish;
  REQUIRE(decode(in, publish));
  CHECK((publish.call == 5 && publish.topic == "a.b" && publish.payload.inlined == "hi"));
  CHECK(publish.patience == Millis{1000});
  in = check_bytes("call_subscribe", Kind::kCallSubscribe, CallSubscribe{5, 8, "a.b", true});
  CallSubscribe subscribe;
  REQUIRE(decode(in, subscribe));
  CHECK((subscribe.call == 5 && subscribe.subscription == 8 && subscribe.topic == "a.b" &&
         subscribe.sink));
  in = check_bytes("call_unsubscribe", Kind::kCallUnsubscribe, CallUnsubscribe{5, 8});
  CallUnsubscribe unsubscribe;
  REQUIRE(decode(in, unsubscribe));
  CHECK((unsubscribe.call == 5 && unsubscribe.subscription == 8));
  check_bytes("client_alive", Kind::kClientAlive, ClientAlive{});
  in = check_bytes("call_hello", Kind::kCallHello, CallHello{5});
  CallHello hello;
  REQUIRE(decode(in, hello));
  CHECK(hello.call == 5);
}

TEST_CASE("Replies, their bodies and a client's events have the bytes of the specification") {
  auto in = check_bytes("reply", Kind::kReply, Reply{5, 0, {}, {"hi", 0}});
  Reply reply;
  REQUIRE(decode(in, reply));
  CHECK((reply.call == 5 && reply.code == 0 && reply.body.inlined == "hi"));
  in = check_bytes("reply_refused", Kind::kReply, Reply{5, 4, "full", {}});
  REQUIRE(decode(in, reply));
  CHECK((reply.code == static_cast<std::uint8_t>(Code::kFull) && reply.message == "full"));
  in = check_bytes("client_event", Kind::kClientEvent,
                   ClientEvent{8, kOne, kEvent, kTime, 1, "a.b", {}, {"hi", 0}});
  ClientEvent event;
  REQUIRE(decode(in, event));
  CHECK(
      (event.subscription == 8 && event.node == kOne && event.id == kEvent && event.time == kTime));
  CHECK((event.seq == 1 && event.topic == "a.b" && event.payload.inlined == "hi"));

  CHECK(to_hex(encode_body(HelloBody{kOne, 1000, "one", "default", "d:2", true})) ==
        to_hex(golden("hello_body")));
  HelloBody hello;
  REQUIRE(decode_body(golden("hello_body"), hello));
  CHECK((hello.id == kOne && hello.incarnation == 1000 && hello.cluster == "default" &&
         hello.has_store));
  const std::vector<MemberRow> rows{
      {kOne, "one", "alive", "c:1", 1000, {{"k", "v"}}, "d:2", 7, Millis{1500}, Micros{250}}};
  CHECK(to_hex(encode_body(rows)) == to_hex(golden("members_body")));
  std::vector<MemberRow> read;
  REQUIRE(decode_body(golden("members_body"), read));
  CHECK((read.size() == 1 && read[0].state == "alive" && read[0].tags == rows[0].tags));
  CHECK((read[0].data_endpoint == "d:2" && read[0].advert_version == 7));
  CHECK((read[0].age == Millis{1500} && read[0].round_trip == Micros{250}));
  CHECK(to_hex(encode_body(PublishedBody{kEvent, 2, 1})) == to_hex(golden("published_body")));
  PublishedBody published;
  REQUIRE(decode_body(golden("published_body"), published));
  CHECK((published.id == kEvent && published.destinations == 2 && published.dropped == 1));
}

TEST_CASE("What a reply says of jobs has the bytes of the specification") {
  JobInfo info;
  info.id = kJob;
  info.topic = "a.b";
  info.queue = "default";
  info.state = JobState::kSucceeded;
  info.level = Level::kOs;
  info.attempt = 2;
  info.deliveries = 3;
  info.owner = kOne;
  info.consumer = kTwo;
  info.added = kTime;
  info.started = kTime + Micros{1};
  info.finished = kTime + Micros{2};
  info.result = Value(std::int64_t{42});
  info.error = "nope";
  info.errors = {"nope"};
  CHECK(to_hex(job::encode_infos({info})) == to_hex(golden("jobs_body")));
  const auto read = job::decode_infos(golden("jobs_body"));
  REQUIRE(read);
  REQUIRE(read->size() == 1);
  CHECK(read->front().state == JobState::kSucceeded);
  CHECK(read->front().consumer == kTwo);
  CHECK(read->front().finished == info.finished);
  CHECK(read->front().result == info.result);
  CHECK(read->front().errors == info.errors);
}

TEST_CASE("The beacon has the bytes of the specification") {
  const BeaconPacket packet{cluster_hash("default"), kOne, Bytes(32, '\x55'), "10.0.0.1", 7420};
  Bytes bytes;
  encode(bytes, packet);
  CHECK(to_hex(bytes) == to_hex(golden("beacon")));
  const auto read = decode_beacon(golden("beacon"));
  REQUIRE(read);
  CHECK((read->cluster == packet.cluster && read->node == kOne && read->key == packet.key));
  CHECK((read->host == "10.0.0.1" && read->port == 7420));
}

}  // namespace headrace::wire
