// What torch keeps per thread, set for a while.
#pragma once

#include <memory>

#include "runtime/model.h"

namespace nereid {

// Applies settings and device to the calling thread until destroyed, on the thread that made it. Gradients are off in
// any case. The thread count is not put back: a thread that runs models once is taken to be for that. Cheap enough
// for one run.
class ThreadScope {
 public:
  ThreadScope(const ThreadSettings& settings, int device);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nereid
