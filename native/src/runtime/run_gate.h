#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace nereid {

// Lets runs go on side by side, and a change go on alone: it waits for the runs that have begun and holds back those
// that have not, however many come. (Past a std::shared_mutex, overlapping runs may keep a change waiting for ever.)
class RunGate {
 public:
  class Run {
   public:
    explicit Run(RunGate& gate) : gate_(gate) {
      std::unique_lock lock(gate_.mutex_);
      gate_.changed_.wait(lock, [this] { return !gate_.closed_; });
      gate_.runs_++;
    }
    ~Run() {
      const std::lock_guard lock(gate_.mutex_);
      if (--gate_.runs_ == 0 && gate_.closed_) gate_.changed_.notify_all();
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

   private:
    RunGate& gate_;
  };

  // Not within a Run of the same thread.
  class Alone {
   public:
    explicit Alone(RunGate& gate) : gate_(gate) {
      std::unique_lock lock(gate_.mutex_);
      gate_.changed_.wait(lock, [this] { return !gate_.closed_; });
      gate_.closed_ = true;
      gate_.changed_.wait(lock, [this] { return gate_.runs_ == 0; });
    }
    ~Alone() {
      const std::lock_guard lock(gate_.mutex_);
      gate_.closed_ = false;
      gate_.changed_.notify_all();
    }
    Alone(const Alone&) = delete;
    Alone& operator=(const Alone&) = delete;

   private:
    RunGate& gate_;
  };

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t runs_ = 0;      // guarded by mutex_
  bool closed_ = false;  // guarded by mutex_; a change waits or goes on
};

}  // namespace nereid
