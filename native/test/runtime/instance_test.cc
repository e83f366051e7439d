#include "runtime/instance.h"

#include <future>

#include "check.h"

namespace nereid {
namespace {

// Answers each batch with its first row count; waits for `gate` before the first.
class EchoModel final : public Model {
 public:
  Status Check(const RunPlan&) const override { return Status(); }
  int device() const override { return -1; }

  Status Run(const RunPlan&, const Batch& batch, Outcome& outcome) override {
    started.set_value();
    gate.get_future().wait();
    started = {};
    gate = {};
    gate.set_value();
    runs++;
    if (batch.rows.at(0) < 0) return Status::Internal("negative");
    outcome.input_ns = batch.rows.at(0);
    return Status();
  }

  std::promise<void> started;
  std::promise<void> gate;
  std::atomic<int> runs = 0;
};

class Recorder final : public CompletionSink {
 public:
  void Complete(std::unique_ptr<Job> job) override {
    const std::lock_guard lock(mutex);
    jobs.push_back(std::move(job));
  }
  void Ended() override { ended.set_value(); }

  std::mutex mutex;
  std::vector<std::unique_ptr<Job>> jobs;  // guarded by mutex
  std::promise<void> ended;
};

std::unique_ptr<Job> JobOf(int64_t rows) {
  auto job = std::make_unique<Job>();
  job->batch.rows = {rows};
  return job;
}

// At once, as a batch that nothing follows.
void Submit(Instance& instance, std::unique_ptr<Job> job) {
  CHECK_EQ(instance.Submit(std::move(job), /*more_may_follow=*/false), false);
}

}  // namespace

TEST(instance, finishes_what_is_queued_in_order_before_it_ends) {
  auto model = std::make_shared<EchoModel>();
  Recorder recorder;
  Instance instance(model, {}, recorder);
  for (int i = 0; i < 100; i++) Submit(instance, JobOf(i));
  instance.Close();
  model->gate.set_value();
  recorder.ended.get_future().wait();
  CHECK_EQ(recorder.jobs.size(), size_t{100});
  for (size_t i = 0; i < recorder.jobs.size(); i++)
    CHECK_EQ(recorder.jobs[i]->outcome.input_ns, static_cast<int64_t>(i));
}

TEST(instance, goes_on_after_a_batch_that_failed) {
  auto model = std::make_shared<EchoModel>();
  model->gate.set_value();
  Recorder recorder;
  Instance instance(model, {}, recorder);
  Submit(instance, JobOf(-1));
  Submit(instance, JobOf(1));
  instance.Close();
  recorder.ended.get_future().wait();
  CHECK_EQ(recorder.jobs.at(0)->status.message(), std::string("negative"));
  CHECK(recorder.jobs.at(1)->status.ok());
}

TEST(instance, drops_what_has_not_begun_when_abandoned) {
  auto model = std::make_shared<EchoModel>();
  Recorder recorder;
  {
    Instance instance(model, {}, recorder);
    for (int i = 0; i < 10; i++) Submit(instance, JobOf(i));
    model->started.get_future().wait();
    instance.Abandon();
    model->gate.set_value();
  }
  CHECK_EQ(model->runs.load(), 1);
  CHECK_EQ(recorder.jobs.size(), size_t{1});
  CHECK(recorder.ended.get_future().wait_for(std::chrono::seconds(0)) == std::future_status::ready);
}

TEST(instance, wakes_for_batches_of_several_threads) {
  constexpr int kThreads = 4;
  constexpr int kEach = 500;
  auto model = std::make_shared<EchoModel>();
  model->gate.set_value();
  Recorder recorder;
  Instance instance(model, {}, recorder);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; i++) Submit(instance, JobOf(i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  instance.Close();
  recorder.ended.get_future().wait();
  CHECK_EQ(recorder.jobs.size(), size_t{kThreads * kEach});
}

TEST(instance, leaves_its_thread_asleep_while_more_may_follow) {
  auto model = std::make_shared<EchoModel>();
  model->gate.set_value();
  Recorder recorder;
  Instance instance(model, {}, recorder);
  // Until the thread sleeps, it takes what comes by itself.
  int64_t submitted = 0;
  while (!instance.Submit(JobOf(submitted++), /*more_may_follow=*/true)) std::this_thread::yield();
  const auto recorded = [&] {
    const std::lock_guard lock(recorder.mutex);
    return static_cast<int64_t>(recorder.jobs.size());
  };
  CHECK_EQ(recorded(), submitted - 1);
  instance.WakeUp();
  while (recorded() < submitted) std::this_thread::yield();
  instance.WakeUp();  // nothing is owed any more
  instance.Close();
  recorder.ended.get_future().wait();
}

TEST(instance, does_not_keep_many_batches_waiting_for_more) {
  auto model = std::make_shared<EchoModel>();
  model->gate.set_value();
  Recorder recorder;
  Instance instance(model, {}, recorder);
  int owed = 0;
  for (int i = 0; i < 1000; i++) owed = instance.Submit(JobOf(i), /*more_may_follow=*/true) ? owed + 1 : 0;
  CHECK(owed < 8);
  instance.Close();
  recorder.ended.get_future().wait();
  CHECK_EQ(recorder.jobs.size(), size_t{1000});
}

TEST(instance, runs_on_the_calling_thread_on_demand) {
  auto model = std::make_shared<EchoModel>();
  model->gate.set_value();
  Recorder recorder;
  Instance instance(model, {}, recorder);
  const std::unique_ptr<Job> job = JobOf(7);
  CHECK(instance.RunHere(job->batch, job->outcome).ok());
  CHECK_EQ(job->outcome.input_ns, int64_t{7});
  CHECK_EQ(recorder.jobs.size(), size_t{0});
}

}  // namespace nereid
