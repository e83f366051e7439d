// A shared library with a custom batching strategy, built against Triton's public headers. No JS in reach.
#pragma once

#include <memory>
#include <string>

#include "runtime/status.h"
#include "strategy/handles.h"
#include "strategy/host_api.h"

namespace nereid {

// One strategy of one model. Every call is for one thread, the one that schedules, and none comes from within another.
class StrategyLibrary {
 public:
  // Opens the library and lets it initialise. NOT_FOUND and INVALID_ARG for a file that is none or lacks one of the
  // five functions; else the library's own error. `model` is the library's to read until it is closed; `sink`, which
  // may be null, outlives it.
  static StatusOr<std::unique_ptr<StrategyLibrary>> Open(const std::string& path, TRITONBACKEND_Model model,
                                                         LogSink* sink);

  // Finalises without a word if that was not done.
  ~StrategyLibrary();

  StrategyLibrary(const StrategyLibrary&) = delete;
  StrategyLibrary& operator=(const StrategyLibrary&) = delete;

  // A batch begins. `state` is the library's own; null where it needs none.
  Status StartBatch(void*& state);
  // Whether a request joins the batch; false if that fails.
  Status Include(TRITONBACKEND_Request& request, void* state, bool& includes);
  // The batch is over, and `state` with it.
  Status EndBatch(void* state);

  // Finalises and closes the library. No batch is open. Idempotent.
  Status Close();

  bool is_open() const { return handle_ != nullptr; }

 private:
  struct Functions;

  StrategyLibrary(void* handle, const HostApi& host, TRITONBACKEND_Model model, LogSink* sink);

  template <typename Function, typename... Arguments>
  Status Call(Function function, Arguments... arguments);

  void* handle_;  // null once closed
  const HostApi& host_;
  TRITONBACKEND_Model model_;
  LogSink* sink_;
  std::unique_ptr<Functions> functions_;
  TRITONBACKEND_Batcher* batcher_ = nullptr;
  bool is_initialized_ = false;
};

}  // namespace nereid
