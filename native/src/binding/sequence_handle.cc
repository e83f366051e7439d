#include "binding/sequence_handle.h"

namespace nereid {
namespace {

constexpr napi_type_tag kSequenceTag = {0x6e65726569640001, 0x73657175656e6365};

using Handle = std::shared_ptr<SequenceState>;

}  // namespace

Napi::Value OpenSequence(const Napi::CallbackInfo& info) {
  auto handle = std::make_unique<Handle>(SequenceState::Create());
  auto external =
      Napi::External<Handle>::New(info.Env(), handle.get(), [](Napi::Env, Handle* freed) { delete freed; });
  handle.release();
  external.TypeTag(&kSequenceTag);
  return external;
}

void ReleaseSequence(const Napi::CallbackInfo& info) {
  if (const auto sequence = ReadSequence(info.Env(), info[0])) sequence->Release();
}

std::shared_ptr<SequenceState> ReadSequence(napi_env env, napi_value handle) {
  napi_valuetype type = napi_undefined;
  napi_typeof(env, handle, &type);
  if (type == napi_undefined) return nullptr;
  bool is_sequence = false;
  void* data = nullptr;
  if (type != napi_external || napi_check_object_type_tag(env, handle, &kSequenceTag, &is_sequence) != napi_ok ||
      !is_sequence || napi_get_value_external(env, handle, &data) != napi_ok) {
    throw Napi::TypeError::New(env, "a sequence must be what openSequence returned");
  }
  return *static_cast<Handle*>(data);
}

}  // namespace nereid
