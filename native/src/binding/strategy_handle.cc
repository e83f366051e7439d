#include "binding/strategy_handle.h"

#include <cmath>
#include <cstdlib>
#include <utility>

#include "binding/convert.h"

namespace nereid {
namespace {

constexpr uint32_t kIsCancelled = 4;  // above the two flags of a sequence
constexpr double kSafeInteger = 9007199254740991;

std::string ReadText(const Napi::Value& value, const char* what) {
  if (!value.IsString()) throw Napi::TypeError::New(value.Env(), std::string(what) + " must be a string");
  return value.As<Napi::String>();
}

std::vector<std::string> ReadTexts(const Napi::Value& value, const char* what) {
  if (!value.IsArray()) throw Napi::TypeError::New(value.Env(), std::string(what) + " must be an array of strings");
  const auto array = value.As<Napi::Array>();
  std::vector<std::string> texts;
  for (uint32_t i = 0; i < array.Length(); i++) texts.push_back(ReadText(array.Get(i), what));
  return texts;
}

uint64_t ReadVersion(const Napi::Value& value) {
  const std::string text = ReadText(value, "modelVersion");
  return std::strtoull(text.c_str(), nullptr, 10);
}

void ThrowUnlessOk(Napi::Env env, const Status& status) {
  if (!status.ok()) throw Napi::Error(env, ToError(env, status));
}

std::variant<uint64_t, std::string> ReadCorrelationId(const Napi::Value& value) {
  if (value.IsString()) return value.As<Napi::String>().Utf8Value();
  bool is_lossless = false;
  if (value.IsBigInt()) return value.As<Napi::BigInt>().Uint64Value(&is_lossless);
  return static_cast<uint64_t>(value.As<Napi::Number>().DoubleValue());
}

std::variant<std::string, int64_t, bool, double> ReadParameter(const Napi::Value& value) {
  if (value.IsString()) return value.As<Napi::String>().Utf8Value();
  if (value.IsBoolean()) return value.As<Napi::Boolean>().Value();
  bool is_lossless = false;
  if (value.IsBigInt()) return value.As<Napi::BigInt>().Int64Value(&is_lossless);
  const double number = value.As<Napi::Number>();
  const bool is_whole = std::trunc(number) == number && std::abs(number) <= kSafeInteger;
  if (is_whole) return static_cast<int64_t>(number);
  return number;
}

}  // namespace

Napi::Value StrategyHandle::Open(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::string path = ReadText(info[0], "library");
  TRITONBACKEND_Model model;
  model.name = ReadText(info[1], "modelName");
  model.version = ReadVersion(info[2]);
  model.directory = ReadText(info[3], "modelDirectory");
  model.config = ReadText(info[4], "config");
  if (!info[7].IsFunction()) throw Napi::TypeError::New(env, "onLog must be a function");
  const std::shared_ptr<StrategyHandle> handle(
      new StrategyHandle(ReadTexts(info[5], "inputNames"), info[6].As<Napi::Function>(), info[7].As<Napi::Function>()));
  auto library = StrategyLibrary::Open(path, std::move(model), handle.get());
  ThrowUnlessOk(env, library.status());
  handle->library_ = std::move(library.value());

  Napi::Object object = Napi::Object::New(env);
  object["startBatch"] = Napi::Function::New(
      env, [handle](const Napi::CallbackInfo& info) { return handle->StartBatch(info.Env()); }, "startBatch");
  object["include"] = Napi::Function::New(
      env, [handle](const Napi::CallbackInfo& info) { return handle->Include(info); }, "include");
  object["endBatch"] = Napi::Function::New(
      env, [handle](const Napi::CallbackInfo& info) { handle->EndBatch(info); }, "endBatch");
  object["close"] = Napi::Function::New(
      env, [handle](const Napi::CallbackInfo& info) { handle->Close(info.Env()); }, "close");
  return object;
}

StrategyHandle::StrategyHandle(std::vector<std::string> input_names, Napi::Function describe, Napi::Function on_log)
    : input_names_(std::move(input_names)), describe_(Napi::Persistent(describe)), on_log_(Napi::Persistent(on_log)) {
  request_.source = this;
}

Napi::Value StrategyHandle::StartBatch(Napi::Env env) {
  void* state = nullptr;
  ThrowUnlessOk(env, Library(env).StartBatch(state));
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(states_.size()));
    states_.push_back(nullptr);
  }
  const uint32_t batch = free_.back();
  free_.pop_back();
  states_[batch] = state;
  return Napi::Number::New(env, batch);
}

Napi::Value StrategyHandle::Include(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  StrategyLibrary& library = Library(env);
  void* state = State(info[0]);
  ReadRequest(info[1]);
  bool includes = false;
  ThrowUnlessOk(env, library.Include(request_, state, includes));
  return Napi::Boolean::New(env, includes);
}

void StrategyHandle::EndBatch(const Napi::CallbackInfo& info) {
  StrategyLibrary& library = Library(info.Env());
  void* state = std::exchange(State(info[0]), nullptr);
  free_.push_back(info[0].As<Napi::Number>());
  ThrowUnlessOk(info.Env(), library.EndBatch(state));
}

void StrategyHandle::Close(Napi::Env env) {
  const Status status = library_->Close();
  // They hold the JS object that holds this one.
  describe_.Reset();
  on_log_.Reset();
  ThrowUnlessOk(env, status);
}

StrategyLibrary& StrategyHandle::Library(Napi::Env env) {
  if (!library_->is_open()) ThrowUnlessOk(env, Status::Unavailable("the batching strategy is closed"));
  return *library_;
}

void*& StrategyHandle::State(const Napi::Value& batch) {
  uint32_t number = 0;
  if (napi_get_value_uint32(batch.Env(), batch, &number) != napi_ok || number >= states_.size()) {
    throw Napi::TypeError::New(batch.Env(), "batch must be what startBatch returned");
  }
  return states_[number];
}

void StrategyHandle::ReadRequest(const Napi::Value& value) {
  size_t length = 0;
  void* data = nullptr;
  napi_typedarray_type type = napi_int8_array;
  napi_get_typedarray_info(value.Env(), value, &type, &length, &data, nullptr, nullptr);
  const auto* next = static_cast<const double*>(data);
  const auto flags = static_cast<uint32_t>(*next++);
  request_.flags = flags & ~kIsCancelled;
  request_.is_cancelled = (flags & kIsCancelled) != 0;
  request_.input_count = static_cast<size_t>(*next++);
  if (request_.inputs.size() < request_.input_count) request_.inputs.resize(request_.input_count);
  for (size_t i = 0; i < request_.input_count; i++) {
    TRITONBACKEND_Input& input = request_.inputs[i];
    input.request = &request_;
    input.name = &input_names_[static_cast<size_t>(*next++)];
    input.datatype = static_cast<TRITONSERVER_DataType>(*next++);
    input.byte_size = static_cast<uint64_t>(*next++);
    input.shape.resize(static_cast<size_t>(*next++));
    for (int64_t& dim : input.shape) dim = static_cast<int64_t>(*next++);
  }
  has_details_ = false;
}

void StrategyHandle::Log(TRITONSERVER_LogLevel level, const char* message) {
  const Napi::Env env = on_log_.Env();
  const Napi::HandleScope scope(env);
  try {
    on_log_.Call({Napi::Number::New(env, level), Napi::String::New(env, message)});
  } catch (const Napi::Error&) {
    // The library's frames lie between here and whoever could catch it.
  }
}

const RequestDetails* StrategyHandle::Details(std::string& reason) {
  if (std::this_thread::get_id() != thread_) {
    reason = "this can only be asked on the thread that called the strategy";
    return nullptr;
  }
  if (has_details_) return &details_;
  const Napi::Env env = describe_.Env();
  const Napi::HandleScope scope(env);
  try {
    ReadDetails(describe_.Call({}).As<Napi::Array>());
    has_details_ = true;
    return &details_;
  } catch (const Napi::Error& error) {
    reason = error.Message();
    return nullptr;
  }
}

void StrategyHandle::ReadDetails(const Napi::Array& described) {
  details_.id = ReadText(described.Get(0u), "id");
  details_.correlation_id = ReadCorrelationId(described.Get(1u));
  details_.outputs = ReadTexts(described.Get(2u), "outputs");
  details_.parameters.clear();
  const auto parameters = described.Get(3u).As<Napi::Array>();  // key, value, key, value …
  for (uint32_t i = 0; i + 1 < parameters.Length(); i += 2) {
    details_.parameters.push_back({ReadText(parameters.Get(i), "a key"), ReadParameter(parameters.Get(i + 1))});
  }
  details_.buffers.clear();
  const auto buffers = described.Get(4u).As<Napi::Array>();
  for (uint32_t i = 0; i < buffers.Length(); i++) {
    details_.buffers.push_back(Napi::Value(buffers.Get(i)).As<Napi::Uint8Array>().Data());
  }
}

}  // namespace nereid
