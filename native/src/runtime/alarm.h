// One deadline on the steady clock, waited for by a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace nereid {

// The thread starts with the first deadline, sleeps until the deadline comes, and while none is set. Members may be
// called from any thread, and from within a `ring`; it is destroyed from another.
class Alarm {
 public:
  // `ring` is called on the alarm's thread with no lock held, once per deadline that came.
  explicit Alarm(std::function<void()> ring) : ring_(std::move(ring)) {}
  // Waits for a `ring` that goes on.
  ~Alarm();
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  // Replaces the deadline. Wakes the thread only if it would sleep for too long.
  void Set(std::chrono::nanoseconds from_now);
  // Never wakes the thread: it finds out when the deadline it sleeps until has come.
  void Clear();
  // Whether a deadline is set that has not come; a `ring` may be going on or on its way.
  bool IsSet() const;

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  static constexpr TimePoint kNever = TimePoint::max();

  void Loop();

  const std::function<void()> ring_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  TimePoint deadline_ = kNever;           // guarded by mutex_
  TimePoint asleep_until_ = TimePoint();  // guarded by mutex_; in the past while the thread is awake
  bool ended_ = false;                    // guarded by mutex_
  std::thread thread_;                    // started by Set(), under mutex_
};

}  // namespace nereid
