// What is kept of a sequence, as JS holds it.
#pragma once

#include <napi.h>

#include <memory>

#include "runtime/sequence_state.h"

namespace nereid {

// A handle over new, empty memory, freed with the handle at the latest.
Napi::Value OpenSequence(const Napi::CallbackInfo& info);

// Frees the memory of a handle. Throws a JS TypeError if the argument is none.
void ReleaseSequence(const Napi::CallbackInfo& info);

// The memory of a handle; null for undefined. Throws a JS TypeError for anything else.
std::shared_ptr<SequenceState> ReadSequence(napi_env env, napi_value handle);

}  // namespace nereid
