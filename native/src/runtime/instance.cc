#include "runtime/instance.h"

#include <utility>

#include "runtime/device.h"
#include "runtime/thread_scope.h"
#include "runtime/torch_thread.h"

namespace nereid {
namespace {

// Waking the thread costs about as much as a small model's run. More jobs than these do not wait for others.
constexpr size_t kJobsPerWakeUp = 8;

// Keeps the memory that vectors of an earlier run have grown to.
void Clear(Outcome& outcome) {
  outcome.outputs.clear();
  outcome.small.clear();
}

}  // namespace

Instance::Instance(std::shared_ptr<Model> model, InstanceOptions options, CompletionSink& sink)
    : model_(std::move(model)), options_(std::move(options)), sink_(sink), thread_(&Instance::Loop, this) {}

Instance::~Instance() {
  Abandon();
  thread_.join();
}

bool Instance::Submit(std::unique_ptr<Job> job, bool more_may_follow) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(job));
    if (!waiting_) return false;
    if (more_may_follow && queue_.size() < kJobsPerWakeUp) return true;
    waiting_ = false;
  }
  changed_.notify_one();
  return false;
}

void Instance::WakeUp() {
  {
    const std::lock_guard lock(mutex_);
    if (queue_.empty() || !std::exchange(waiting_, false)) return;
  }
  changed_.notify_one();
}

Status Instance::RunHere(const Batch& batch, Outcome& outcome) {
  ThreadSettings settings = options_.thread;
  settings.intra_op_threads = 1;
  const ThreadScope scope(settings, model_->device());
  Clear(outcome);
  Status status = model_->Run(options_.plan, batch, outcome);
  if (settings.cache_cleaning) EmptyCache();
  return status;
}

void Instance::Close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    waiting_ = false;
  }
  changed_.notify_one();
}

void Instance::Abandon() {
  abandoned_ = true;
  Close();
}

bool Instance::Take(std::vector<std::unique_ptr<Job>>& jobs) {
  jobs.clear();
  std::unique_lock lock(mutex_);
  while (queue_.empty() && !closing_) {
    waiting_ = true;
    changed_.wait(lock);
  }
  waiting_ = false;
  queue_.swap(jobs);
  return !jobs.empty();
}

void Instance::Loop() {
  const TorchThread counted;
  {
    const ThreadScope scope(options_.thread, model_->device());
    std::vector<std::unique_ptr<Job>> jobs;
    while (Take(jobs)) {
      for (std::unique_ptr<Job>& job : jobs) {
        if (abandoned_) break;
        Clear(job->outcome);
        job->status = model_->Run(options_.plan, job->batch, job->outcome);
        sink_.Complete(std::move(job));
        if (options_.thread.cache_cleaning) EmptyCache();
      }
    }
  }
  sink_.Ended();
}

}  // namespace nereid
