#include "core/wire/window.h"

#include <algorithm>

#include "core/base/limits.h"

namespace headrace::wire {
namespace {

constexpr std::size_t kMostFields = 64;

// Reads `known` fields by `read`, and passes over what a newer version appended.
template <typename Read>
void fields(Reader& in, std::size_t known, Read&& read) {
  auto count = in.array(kMostFields);
  if (count < known) return in.fail();
  read();
  for (; count > known && in.ok(); --count) in.skip();
}

std::uint64_t count_from(Reader& in) { return in.u64(limits::kWindowCount); }

void put(Writer& out, const Session& session) { out.u64(session.receiver).u64(session.counter); }

Session session_from(Reader& in) {
  Session session;
  session.receiver = in.u64();
  session.counter = count_from(in);
  return session;
}

constexpr std::uint64_t kEcho = 1;
constexpr std::uint64_t kProve = 2;
constexpr std::uint64_t kFull = 4;

void put(Writer& out, const std::vector<HeldRun>& runs) {
  out.array(3 * runs.size());
  for (const auto& run : runs) out.u64(run.counter).u64(run.first).u64(run.count);
}

void read_runs(Reader& in, std::vector<HeldRun>& runs) {
  const auto numbers = in.array(3 * limits::kHeldItems);
  if (numbers % 3 != 0) return in.fail();
  runs.clear();
  runs.reserve(numbers / 3);
  std::uint64_t items = 0;
  for (std::size_t i = 0; i < numbers / 3 && in.ok(); ++i) {
    HeldRun run;
    run.counter = count_from(in);
    run.first = count_from(in);
    run.count = in.u64(limits::kHeldItems);
    items += run.count;
    runs.push_back(run);
  }
  if (items > limits::kHeldItems) in.fail();
}

}  // namespace

void encode(Writer& out, const WindowId& id) { out.array(2).u64(id.consumer).text(id.queue); }

void decode(Reader& in, WindowId& id) {
  fields(in, 2, [&] {
    id.consumer = static_cast<std::uint32_t>(in.u64(UINT32_MAX));
    id.queue = in.text(limits::kNameBytes);
  });
}

void encode(Writer& out, const Announce& announce) {
  out.array(8).u64(announce.number);
  put(out, announce.session);
  out.u64(announce.limit).u64(announce.used).u64(announce.burned).u64(announce.want);
  out.boolean(announce.query);
}

void decode(Reader& in, Announce& announce) {
  fields(in, 8, [&] {
    announce.number = count_from(in);
    announce.session = session_from(in);
    announce.limit = count_from(in);
    announce.used = count_from(in);
    announce.burned = count_from(in);
    announce.want = count_from(in);
    announce.query = in.boolean();
  });
  if (announce.burned > announce.used || announce.used > announce.limit) in.fail();
}

void encode(Writer& out, const ItemHead& head) { encode(out, head.announce); }
void decode(Reader& in, ItemHead& head) { decode(in, head.announce); }
void encode(Writer& out, const Mark& mark) { encode(out, mark.announce); }
void decode(Reader& in, Mark& mark) { decode(in, mark.announce); }

void encode(Writer& out, const WindowState& state) {
  out.array(state.full ? 9 : 8);
  put(out, state.session);
  out.u64(state.sender).u64(state.limit).u64(state.passed).u64(state.burned).u64(state.ask);
  out.u64((state.echo ? kEcho : 0) | (state.prove ? kProve : 0) | (state.full ? kFull : 0));
  if (state.full) put(out, state.held);
}

void decode(Reader& in, WindowState& state) {
  auto count = in.array(kMostFields);
  if (count < 8) return in.fail();
  state.session = session_from(in);
  state.sender = in.u64();
  state.limit = count_from(in);
  state.passed = count_from(in);
  state.burned = count_from(in);
  state.ask = count_from(in);
  const auto flags = in.u64();
  count -= 8;
  state.echo = (flags & kEcho) != 0;
  state.prove = (flags & kProve) != 0;
  state.full = (flags & kFull) != 0;
  state.held.clear();
  if (state.full) {
    if (count == 0) return in.fail();
    read_runs(in, state.held);
    --count;
  }
  for (; count > 0 && in.ok(); --count) in.skip();
  if (state.burned + state.passed > state.limit) in.fail();
}

bool lists(const std::vector<HeldRun>& runs, const ItemId& id) {
  const auto above =
      std::upper_bound(runs.begin(), runs.end(), id, [](const ItemId& key, const HeldRun& run) {
        return key.session.counter != run.counter ? key.session.counter < run.counter
                                                  : key.n < run.first;
      });
  if (above == runs.begin()) return false;
  const auto& run = *(above - 1);
  return run.counter == id.session.counter && id.n - run.first < run.count;
}

void encode(Writer& out, const WindowOver& over) {
  out.array(2).u64(over.receiver);
  put(out, over.items);
}

void decode(Reader& in, WindowOver& over) {
  fields(in, 2, [&] {
    over.receiver = in.u64();
    read_runs(in, over.items);
  });
}

void encode(Writer& out, const LaneHead& head) {
  out.array(4);
  put(out, head.session);
  out.u64(head.offset).u64(head.size);
}

void decode(Reader& in, LaneHead& head) {
  fields(in, 4, [&] {
    head.session = session_from(in);
    head.offset = count_from(in);
    head.size = in.u64(limits::kFrameBytes);
  });
}

void encode(Writer& out, const LaneMark& mark) {
  out.array(3);
  put(out, mark.session);
  out.u64(mark.offset);
}

void decode(Reader& in, LaneMark& mark) {
  fields(in, 3, [&] {
    mark.session = session_from(in);
    mark.offset = count_from(in);
  });
}

void encode(Writer& out, const LaneQuery& query) {
  out.array(3);
  put(out, query.session);
  out.boolean(query.blocked);
}

void decode(Reader& in, LaneQuery& query) {
  fields(in, 3, [&] {
    query.session = session_from(in);
    query.blocked = in.boolean();
  });
}

void encode(Writer& out, const LaneState& state) {
  out.array(7);
  put(out, state.session);
  out.u64(state.sender).u64(state.limit).u64(state.passed).u64(state.released).u64(state.progress);
}

void decode(Reader& in, LaneState& state) {
  fields(in, 7, [&] {
    state.session = session_from(in);
    state.sender = in.u64();
    state.limit = count_from(in);
    state.passed = count_from(in);
    state.released = count_from(in);
    state.progress = count_from(in);
  });
  if (state.released > state.passed) in.fail();
}

}  // namespace headrace::wire
