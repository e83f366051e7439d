#include "strategy/strategy_library.h"

#include <dlfcn.h>

#include <exception>
#include <utility>

#include "runtime/path.h"

namespace nereid {

// The five, in the order of a strategy's life.
struct StrategyLibrary::Functions {
  TRITONSERVER_Error* (*initialize)(TRITONBACKEND_Batcher** batcher, TRITONBACKEND_Model* model) = nullptr;
  TRITONSERVER_Error* (*batch_initialize)(const TRITONBACKEND_Batcher* batcher, void** state) = nullptr;
  TRITONSERVER_Error* (*batch_include)(TRITONBACKEND_Request* request, void* state, bool* includes) = nullptr;
  TRITONSERVER_Error* (*batch_finalize)(void* state) = nullptr;
  TRITONSERVER_Error* (*finalize)(TRITONBACKEND_Batcher* batcher) = nullptr;

  // Names of those that are not there.
  std::string Find(void* handle) {
    std::string missing;
    Find(handle, "TRITONBACKEND_ModelBatcherInitialize", initialize, missing);
    Find(handle, "TRITONBACKEND_ModelBatchInitialize", batch_initialize, missing);
    Find(handle, "TRITONBACKEND_ModelBatchIncludeRequest", batch_include, missing);
    Find(handle, "TRITONBACKEND_ModelBatchFinalize", batch_finalize, missing);
    Find(handle, "TRITONBACKEND_ModelBatcherFinalize", finalize, missing);
    return missing;
  }

 private:
  template <typename Function>
  static void Find(void* handle, const char* name, Function& function, std::string& missing) {
    function = reinterpret_cast<Function>(::dlsym(handle, name));
    if (function != nullptr) return;
    missing += missing.empty() ? name : std::string(", ") + name;
  }
};

namespace {

// The library's error, which is freed, as a status.
Status Take(TRITONSERVER_Error* error) {
  if (error == nullptr) return Status();
  static_assert(static_cast<int>(StatusCode::kUnknown) == TRITONSERVER_ERROR_UNKNOWN + 1);
  static_assert(static_cast<int>(StatusCode::kCancelled) == TRITONSERVER_ERROR_CANCELLED + 1);
  const std::unique_ptr<TRITONSERVER_Error> owned(error);
  const bool is_known = error->code >= TRITONSERVER_ERROR_UNKNOWN && error->code <= TRITONSERVER_ERROR_CANCELLED;
  const auto code = is_known ? static_cast<StatusCode>(error->code + 1) : StatusCode::kUnknown;
  return {code, std::move(owned->message)};
}

}  // namespace

StatusOr<std::unique_ptr<StrategyLibrary>> StrategyLibrary::Open(const std::string& path, TRITONBACKEND_Model model,
                                                                 LogSink* sink) {
  NEREID_RETURN_IF_ERROR(CheckReadable(path));
  const auto host = OpenHostApi();
  if (!host.ok()) return host.status();
  // Now, as a function that is missing would end the process when it is called.
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = ::dlerror();
    return Status::InvalidArg("the library cannot be opened: " + std::string(reason == nullptr ? path : reason));
  }
  std::unique_ptr<StrategyLibrary> library(new StrategyLibrary(handle, *host.value(), std::move(model), sink));
  Functions& functions = *library->functions_;
  const std::string missing = functions.Find(handle);
  if (!missing.empty()) {
    return Status::InvalidArg("it does not define all required custom batching functions; these are missing: " +
                              missing);
  }
  NEREID_RETURN_IF_ERROR(library->Call(functions.initialize, &library->batcher_, &library->model_));
  library->is_initialized_ = true;
  return library;
}

StrategyLibrary::StrategyLibrary(void* handle, const HostApi& host, TRITONBACKEND_Model model, LogSink* sink)
    : handle_(handle), host_(host), model_(std::move(model)), sink_(sink), functions_(std::make_unique<Functions>()) {}

StrategyLibrary::~StrategyLibrary() {
  sink_ = nullptr;  // it may be on its way out itself
  static_cast<void>(Close().ok());
}

Status StrategyLibrary::StartBatch(void*& state) {
  state = nullptr;
  return Call(functions_->batch_initialize, batcher_, &state);
}

Status StrategyLibrary::Include(TRITONBACKEND_Request& request, void* state, bool& includes) {
  includes = false;
  const Status status = Call(functions_->batch_include, &request, state, &includes);
  if (!status.ok()) includes = false;
  return status;
}

Status StrategyLibrary::EndBatch(void* state) {
  if (state == nullptr) return Status();
  return Call(functions_->batch_finalize, state);
}

Status StrategyLibrary::Close() {
  if (handle_ == nullptr) return Status();
  Status status;
  if (std::exchange(is_initialized_, false)) status = Call(functions_->finalize, batcher_);
  ::dlclose(std::exchange(handle_, nullptr));
  return status;
}

// Calls a function of the library; what it logs meanwhile on this thread goes to the sink.
template <typename Function, typename... Arguments>
Status StrategyLibrary::Call(Function function, Arguments... arguments) {
  host_.log_to(sink_);
  Status status;
  try {
    status = Take(function(arguments...));
  } catch (const std::exception& error) {
    status = Status::Internal(error.what());
  } catch (...) {
    status = Status::Internal("the library threw something that is not a C++ exception");
  }
  host_.log_to(nullptr);
  return status;
}

}  // namespace nereid
