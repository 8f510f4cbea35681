#include "nodes/runtime/commit_thread.h"

#include <algorithm>
#include <utility>

#include "core/base/limits.h"
#include "nodes/runtime/thread.h"

namespace headrace::runtime {

Result<void> CommitThread::start() {
  auto thread = start_thread("hr-commit", [this] { run(); });
  if (!thread) return fail(thread.error());
  thread_ = std::move(*thread);
  return {};
}

CommitThread::~CommitThread() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void CommitThread::submit(Commit commit) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = pending_.empty();
    pending_.push_back(std::move(commit));
  }
  if (first) wake_.notify_one();
}

void CommitThread::run() {
  std::vector<Commit> taken;
  for (bool ending = false; !ending;) {
    {
      std::unique_lock lock(mutex_);
      wait(lock);
      ending = ending_;
      taken.swap(pending_);
    }
    write(taken);
    taken.clear();
    const bool sync_due = done_.synced < done_.written && (ending || mono_now() >= sync_at_);
    if (sync_due) put(WriteBatch{}, done_.written, true);
    // Looks at the disk again, so that freed space is seen though nothing is written.
    if (!store_.room() && !done_.failed) static_cast<void>(store_.stats());
  }
}

// Until there is work, or it is time for what is done without any.
void CommitThread::wait(std::unique_lock<std::mutex>& lock) {
  const auto ready = [this] { return ending_ || !pending_.empty(); };
  auto until = sync_at_;
  if (!store_.room() && !done_.failed) until = std::min(until, mono_now() + kLookAgain);
  if (until == kNever) {
    wake_.wait(lock, ready);
  } else {
    wake_.wait_until(lock, steady(until), ready);
  }
}

void CommitThread::write(std::vector<Commit>& taken) {
  for (auto next = taken.begin(); next != taken.end();) {
    auto& first = *next++;
    auto number = first.number;
    bool sync = first.level == Level::kDisk;
    while (next != taken.end() &&
           first.batch.bytes() + next->batch.bytes() <= limits::kJoinedBytes) {
      first.batch.append(next->batch);
      number = next->number;
      sync = sync || next->level == Level::kDisk;
      ++next;
    }
    put(first.batch, number, sync);
  }
}

void CommitThread::put(const WriteBatch& batch, CommitNumber number, bool sync) {
  if (done_.failed) return;
  if (auto written = store_.write(batch, sync); !written) {
    done_.failed = written.error();
    sync_at_ = kNever;
    report_(done_);
    return;
  }
  done_.written = number;
  if (sync) {
    done_.synced = number;
    sync_at_ = kNever;
  } else if (sync_at_ == kNever) {
    sync_at_ = mono_now() + kSyncWithin;
  }
  report_(done_);
}

}  // namespace headrace::runtime
