#include "tools/sim/shadow.h"

#include "core/base/check.h"
#include "core/store/keys.h"
#include "core/store/record.h"

namespace headrace::sim {

const Shadow::Row* Shadow::Image::find(const JobId& id) const {
  const auto number = numbers.find(id);
  if (number == numbers.end()) return nullptr;
  const auto row = jobs.find(number->second);
  return row == jobs.end() ? nullptr : &row->second;
}

void Shadow::write(const WriteBatch& batch) {
  apply(written_, batch, on_row_);
  unsynced_.push_back(batch);
}

void Shadow::sync() {
  for (const auto& batch : unsynced_) apply(synced_, batch, {});
  unsynced_.clear();
}

void Shadow::rebuild(const Snapshot& found) {
  // What was once on record was, whatever became of it.
  const auto told = std::move(written_);
  const auto told_for_good = std::move(synced_);
  written_ = {};
  const auto cursor = found.cursor();
  for (const auto space : {keys::Space::kActive, keys::Space::kJob}) {
    for (cursor->seek(keys::space(space)); cursor->valid(); cursor->next()) {
      if (!keys::in_space(cursor->key(), space)) break;
      put(written_, cursor->key(), cursor->value(), {});
    }
  }
  synced_ = written_;
  written_.answered.insert(told.answered.begin(), told.answered.end());
  written_.dispatched.insert(told.dispatched.begin(), told.dispatched.end());
  synced_.answered.insert(told_for_good.answered.begin(), told_for_good.answered.end());
  synced_.dispatched.insert(told_for_good.dispatched.begin(), told_for_good.dispatched.end());
  unsynced_.clear();
}

void Shadow::apply(Image& image, const WriteBatch& batch, const OnRow& on_row) {
  batch.each([&](BytesView key, BytesView value) { put(image, key, value, on_row); },
             [&](BytesView key) {
               if (const auto number = keys::parse_active(key)) image.active.erase(*number);
               if (const auto number = keys::parse_job(key)) image.jobs.erase(*number);
             });
}

void Shadow::put(Image& image, BytesView key, BytesView value, const OnRow& on_row) {
  if (const auto number = keys::parse_active(key)) {
    const auto dispatch = job::decode_dispatch(record::open(value)->body);
    HEADRACE_CHECK(dispatch.has_value());
    image.active[*number] = dispatch->token;
    image.dispatched.insert(dispatch->token);
    return;
  }
  const auto number = keys::parse_job(key);
  if (!number) return;
  const auto body = record::open(value)->body;
  const auto job = job::decode_job(*number, body);
  HEADRACE_CHECK(job.has_value());
  Row row{job->id, job->state, job->level, job->attempts, job->answered, Bytes(body)};
  const auto before = image.jobs.find(*number);
  if (on_row) on_row(before == image.jobs.end() ? nullptr : &before->second, *number, row);
  if (row.answered.life != 0) image.answered.insert(row.answered);
  image.numbers[row.id] = *number;
  image.jobs[*number] = std::move(row);
}

}  // namespace headrace::sim
