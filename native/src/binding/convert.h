// JS values from and to the plain structs of the runtime layer. Loop thread only.
#pragma once

#include <napi.h>

#include "binding/memory_ledger.h"
#include "runtime/batch.h"
#include "runtime/instance.h"
#include "runtime/library.h"
#include "runtime/model.h"

namespace nereid {

// A NativeError: the status' message, and its code as `code`.
napi_value ToError(napi_env env, const Status& status);

// These throw a JS TypeError for a missing or mistyped field.
TorchScriptOptions ReadTorchScriptOptions(const Napi::Value& value);
AotiOptions ReadAotiOptions(const Napi::Value& value);
InstanceOptions ReadInstanceOptions(const Napi::Value& value);
ModelInitOptions ReadModelInitOptions(const Napi::Value& value);

// New weights; the bytes stay where they are, borrowed.
std::vector<Weight> ReadWeights(const Napi::Value& value);

// The three arrays of a batch; the bytes stay where they are, borrowed. Throws a JS TypeError if one is something
// else.
void ReadBatch(napi_env env, napi_value buffers, napi_value rows, napi_value shapes, Batch& batch);
// Only the buffers: the rest of the batch is there.
void ReadBuffers(napi_env env, napi_value buffers, Batch& batch);
// What the sequences of a batch keep. Both arrays are undefined for a model that keeps nothing.
void ReadSequences(napi_env env, napi_value sequences, napi_value sides, Batch& batch);

// Appends an outcome as the flat arguments that lib/crossing.js takes. Takes the memory of large outputs.
void AppendOutcome(napi_env env, Outcome& outcome, MemoryLedger& memory, std::vector<napi_value>& arguments);

Napi::Array ToWeights(Napi::Env env, const std::vector<WeightInfo>& weights);
Napi::Array ToConflicts(Napi::Env env, const std::vector<SettingConflict>& conflicts);
Napi::Object ToSchema(Napi::Env env, const ForwardSchema& schema);
Napi::Array ToStrings(Napi::Env env, const std::vector<std::string>& strings);

}  // namespace nereid
