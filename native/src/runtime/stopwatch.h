#pragma once

#include <chrono>
#include <cstdint>

namespace nereid {

// Measures the stages of a run.
class Stopwatch {
 public:
  // Nanoseconds since the last lap or the start.
  int64_t Lap() {
    const auto now = std::chrono::steady_clock::now();
    const auto lap = std::chrono::duration_cast<std::chrono::nanoseconds>(now - last_).count();
    last_ = now;
    return lap;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace nereid
