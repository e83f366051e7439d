// What is kept of a sequence from one run to the next. No torch type.
#pragma once

#include <memory>

namespace nereid {

// The values of one sequence: two sides, each with one value per state. A run reads one side and writes the other, so that
// what it read is still there if its results are refused. One run at a time uses it; it may be made, released and
// destroyed on any thread.
class SequenceState {
 public:
  static std::shared_ptr<SequenceState> Create();
  virtual ~SequenceState() = default;

  // Frees both sides. Not during a run.
  virtual void Release() = 0;
};

}  // namespace nereid
