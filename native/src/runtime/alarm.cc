#include "runtime/alarm.h"

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <utility>

namespace nereid {
namespace {

// Linux lets a thread sleep up to 50 us longer than it asked for unless told otherwise.
void WakeOnTime() {
#ifdef __linux__
  prctl(PR_SET_TIMERSLACK, 1UL);
#endif
}

}  // namespace

Alarm::~Alarm() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Alarm::Set(std::chrono::nanoseconds from_now) {
  {
    const std::lock_guard lock(mutex_);
    deadline_ = std::chrono::steady_clock::now() + from_now;
    if (!thread_.joinable()) thread_ = std::thread(&Alarm::Loop, this);
    if (deadline_ >= asleep_until_) return;
    // So that a second call before the thread is up does not wake it again.
    asleep_until_ = deadline_;
  }
  changed_.notify_one();
}

void Alarm::Clear() {
  const std::lock_guard lock(mutex_);
  deadline_ = kNever;
}

bool Alarm::IsSet() const {
  const std::lock_guard lock(mutex_);
  return deadline_ != kNever;
}

void Alarm::Loop() {
  WakeOnTime();
  std::unique_lock lock(mutex_);
  while (!ended_) {
    if (deadline_ <= std::chrono::steady_clock::now()) {
      deadline_ = kNever;
      lock.unlock();
      ring_();
      lock.lock();
      continue;
    }
    asleep_until_ = deadline_;
    if (deadline_ == kNever) {
      changed_.wait(lock);
    } else {
      changed_.wait_until(lock, deadline_);
    }
    asleep_until_ = TimePoint();
  }
}

}  // namespace nereid
