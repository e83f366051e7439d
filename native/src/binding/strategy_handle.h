// A batching strategy in a shared library as JS sees it. Loop thread only.
#pragma once

#include <napi.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "strategy/handles.h"
#include "strategy/strategy_library.h"

namespace nereid {

class StrategyHandle : private LogSink, private DetailSource {
 public:
  // `openBatchStrategy` with the flat arguments of lib/batch-strategy.js.
  static Napi::Value Open(const Napi::CallbackInfo& info);

 private:
  StrategyHandle(std::vector<std::string> input_names, Napi::Function describe, Napi::Function on_log);

  Napi::Value StartBatch(Napi::Env env);
  Napi::Value Include(const Napi::CallbackInfo& info);
  void EndBatch(const Napi::CallbackInfo& info);
  void Close(Napi::Env env);

  StrategyLibrary& Library(Napi::Env env);
  // The library's state of an open batch.
  void*& State(const Napi::Value& batch);
  // Fills `request_` from numbers: flags, number of inputs, and of each its name's index, datatype, byte size and
  // shape.
  void ReadRequest(const Napi::Value& numbers);

  void Log(TRITONSERVER_LogLevel level, const char* message) override;
  const RequestDetails* Details(std::string& reason) override;
  void ReadDetails(const Napi::Array& described);

  const std::thread::id thread_ = std::this_thread::get_id();
  const std::vector<std::string> input_names_;
  Napi::FunctionReference describe_;  // both empty once closed
  Napi::FunctionReference on_log_;

  // By the number of the batch; numbers of batches that are over are used again.
  std::vector<void*> states_;
  std::vector<uint32_t> free_;

  // Of the call under way; the memory is used again.
  TRITONBACKEND_Request request_;
  RequestDetails details_;
  bool has_details_ = false;

  std::unique_ptr<StrategyLibrary> library_;  // last, so that it goes first: it may still call what is above
};

}  // namespace nereid
