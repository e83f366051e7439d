#include "binding/instance_handle.h"

#include <utility>

#include "binding/convert.h"
#include "binding/report_exception.h"

namespace nereid {
namespace {

// Batches whose memory is kept for the next ones. More are in use only while a queue has built up.
constexpr size_t kSpareJobs = 64;

}  // namespace

Napi::Value InstanceHandle::Create(Napi::Env env, const std::shared_ptr<ModelSlot>& slot, InstanceOptions options,
                                   Napi::Function deliver) {
  auto model = slot->Enter();
  if (!model.ok()) throw Napi::Error(env, ToError(env, model.status()));
  std::shared_ptr<InstanceHandle> handle;
  try {
    const Status status = model.value()->Check(options.plan);
    if (!status.ok()) throw Napi::Error(env, ToError(env, status));
    handle = std::make_shared<InstanceHandle>(env, slot, std::move(model.value()), std::move(options), deliver);
  } catch (...) {
    slot->Leave(env);
    throw;
  }
  Environment::Of(env).Add(handle);
  // The functions are closures over the handle: there is no `this` that could be another object.
  Napi::Object object = Napi::Object::New(env);
  object["execute"] =
      Napi::Function::New(env, [handle](const Napi::CallbackInfo& info) { return handle->Execute(info); }, "execute");
  object["wakeUp"] = Napi::Function::New(env, [handle](const Napi::CallbackInfo&) { handle->WakeUp(); }, "wakeUp");
  object["executeSync"] = Napi::Function::New(
      env, [handle](const Napi::CallbackInfo& info) { return handle->ExecuteSync(info); }, "executeSync");
  object["close"] =
      Napi::Function::New(env, [handle](const Napi::CallbackInfo& info) { return handle->Close(info.Env()); }, "close");
  return object;
}

InstanceHandle::InstanceHandle(Napi::Env env, std::shared_ptr<ModelSlot> slot, std::shared_ptr<Model> model,
                               InstanceOptions options, Napi::Function deliver)
    : environment_(Environment::Of(env)),
      slot_(std::move(slot)),
      name_(options.name),
      deliver_(Napi::Persistent(deliver)) {
  instance_.emplace(std::move(model), std::move(options), *this);
}

Napi::Value InstanceHandle::Execute(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  ThrowIfClosed(env);
  std::unique_ptr<Job> job = ReadJob(info);
  environment_.Await(env);
  bool more_may_follow = false;
  napi_get_value_bool(env, info[3], &more_may_follow);
  napi_value owes_wake_up = nullptr;
  napi_get_boolean(env, instance_->Submit(std::move(job), more_may_follow), &owes_wake_up);
  return {env, owes_wake_up};
}

void InstanceHandle::WakeUp() {
  if (instance_) instance_->WakeUp();
}

Napi::Value InstanceHandle::ExecuteSync(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  ThrowIfClosed(env);
  std::unique_ptr<Job> job = ReadJob(info);
  const Status status = instance_->RunHere(job->batch, job->outcome);
  if (!status.ok()) throw Napi::Error(env, ToError(env, status));
  arguments_.clear();
  AppendOutcome(env, job->outcome, environment_.memory(), arguments_);
  KeepJob(std::move(job));
  return info[3].As<Napi::Function>().Call(arguments_);
}

Napi::Promise InstanceHandle::Close(Napi::Env env) {
  const bool first = !closing_.begun();
  const Napi::Promise promise = closing_.Promise(env);
  if (first) {
    environment_.Await(env);
    instance_->Close();
  }
  return promise;
}

void InstanceHandle::Deliver(Napi::Env env, std::unique_ptr<Job> job) {
  if (!job) {
    instance_.reset();  // joins a thread that has nothing left to do
    slot_->Leave(env);
    deliver_.Reset();
    closing_.Resolve(env);
    environment_.Remove(this);
    return;
  }
  arguments_.clear();
  if (job->status.ok()) {
    arguments_.push_back(env.Undefined());
    AppendOutcome(env, job->outcome, environment_.memory(), arguments_);
  } else {
    arguments_.push_back(ToError(env, job->status));
  }
  napi_call_function(env, env.Undefined(), deliver_.Value(), arguments_.size(), arguments_.data(), nullptr);
  ReportException(env);
  KeepJob(std::move(job));
}

void InstanceHandle::Abandon() {
  if (instance_) instance_->Abandon();
}

void InstanceHandle::Join() { instance_.reset(); }

void InstanceHandle::Complete(std::unique_ptr<Job> job) { environment_.Post(this, std::move(job)); }

void InstanceHandle::Ended() { environment_.Post(this, nullptr); }

void InstanceHandle::ThrowIfClosed(Napi::Env env) const {
  if (!closing_.begun()) return;
  throw Napi::Error(env, ToError(env, Status::Unavailable("model instance '" + name_ + "' is closed")));
}

std::unique_ptr<Job> InstanceHandle::ReadJob(const Napi::CallbackInfo& info) {
  std::unique_ptr<Job> job = TakeJob();
  ReadSequences(info.Env(), info[4], info[5], job->batch);
  if (info[1].IsUndefined()) {
    ReadBuffers(info.Env(), info[0], job->batch);
    job->batch.rows = last_rows_;
    job->batch.shapes = last_shapes_;
    return job;
  }
  ReadBatch(info.Env(), info[0], info[1], info[2], job->batch);
  last_rows_ = job->batch.rows;
  last_shapes_ = job->batch.shapes;
  return job;
}

void InstanceHandle::KeepJob(std::unique_ptr<Job> job) {
  if (spare_jobs_.size() == kSpareJobs) return;
  job->outcome.outputs.clear();  // those of a batch that failed half-way may hold memory
  job->batch.states.clear();
  spare_jobs_.push_back(std::move(job));
}

std::unique_ptr<Job> InstanceHandle::TakeJob() {
  if (spare_jobs_.empty()) return std::make_unique<Job>();
  std::unique_ptr<Job> job = std::move(spare_jobs_.back());
  spare_jobs_.pop_back();
  return job;
}

}  // namespace nereid
