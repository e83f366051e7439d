// TRITONBACKEND_*: a model and its requests.
#include <string>
#include <utility>

#include "strategy/handles.h"
#include "strategy/triton_api.h"

namespace {

constexpr uint32_t kConfigVersion = 1;

TRITONSERVER_Error* InvalidArg(std::string message) {
  return new TRITONSERVER_Error{TRITONSERVER_ERROR_INVALID_ARG, std::move(message)};
}

TRITONSERVER_Error* OutOfRange(const char* what, uint32_t index, size_t count) {
  return InvalidArg("there is no " + std::string(what) + " " + std::to_string(index) + ", the request has " +
                    std::to_string(count));
}

// What `use` makes of the details of a request, or an error that says why there are none.
template <typename Use>
TRITONSERVER_Error* WithDetails(TRITONBACKEND_Request* request, Use use) {
  std::string reason;
  const nereid::RequestDetails* details = request->source->Details(reason);
  if (details != nullptr) return use(*details);
  return new TRITONSERVER_Error{TRITONSERVER_ERROR_UNAVAILABLE, std::move(reason)};
}

}  // namespace

TRITONSERVER_Error* TRITONBACKEND_ApiVersion(uint32_t* major, uint32_t* minor) {
  *major = 1;
  *minor = 19;
  return nullptr;
}

// --- backend: the model ---

TRITONSERVER_Error* TRITONBACKEND_ModelName(TRITONBACKEND_Model* model, const char** name) {
  *name = model->name.c_str();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelVersion(TRITONBACKEND_Model* model, uint64_t* version) {
  *version = model->version;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelRepository(TRITONBACKEND_Model* model, TRITONBACKEND_ArtifactType* type,
                                                  const char** location) {
  *type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  *location = model->directory.c_str();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelConfig(TRITONBACKEND_Model* model, uint32_t config_version,
                                              TRITONSERVER_Message** config) {
  if (config_version != kConfigVersion) {
    return new TRITONSERVER_Error{
        TRITONSERVER_ERROR_UNSUPPORTED,
        "model configurations have version 1; version " + std::to_string(config_version) + " was asked for"};
  }
  *config = new TRITONSERVER_Message{model->config};
  return nullptr;
}

// --- backend: a request ---

TRITONSERVER_Error* TRITONBACKEND_RequestId(TRITONBACKEND_Request* request, const char** id) {
  return WithDetails(request, [&](const nereid::RequestDetails& details) -> TRITONSERVER_Error* {
    *id = details.id.c_str();
    return nullptr;
  });
}

TRITONSERVER_Error* TRITONBACKEND_RequestCorrelationId(TRITONBACKEND_Request* request, uint64_t* id) {
  return WithDetails(request, [&](const nereid::RequestDetails& details) -> TRITONSERVER_Error* {
    const auto* number = std::get_if<uint64_t>(&details.correlation_id);
    if (number == nullptr) return InvalidArg("the correlation ID of the request is a string");
    *id = *number;
    return nullptr;
  });
}

TRITONSERVER_Error* TRITONBACKEND_RequestCorrelationIdString(TRITONBACKEND_Request* request, const char** id) {
  return WithDetails(request, [&](const nereid::RequestDetails& details) -> TRITONSERVER_Error* {
    const auto* text = std::get_if<std::string>(&details.correlation_id);
    if (text == nullptr) return InvalidArg("the correlation ID of the request is a number");
    *id = text->c_str();
    return nullptr;
  });
}

TRITONSERVER_Error* TRITONBACKEND_RequestFlags(TRITONBACKEND_Request* request, uint32_t* flags) {
  *flags = request->flags;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_RequestIsCancelled(TRITONBACKEND_Request* request, bool* is_cancelled) {
  *is_cancelled = request->is_cancelled;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_RequestInputCount(TRITONBACKEND_Request* request, uint32_t* count) {
  *count = static_cast<uint32_t>(request->input_count);
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_RequestInputName(TRITONBACKEND_Request* request, uint32_t index, const char** name) {
  *name = nullptr;
  if (index >= request->input_count) return OutOfRange("input", index, request->input_count);
  *name = request->inputs[index].name->c_str();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_RequestInput(TRITONBACKEND_Request* request, const char* name,
                                               TRITONBACKEND_Input** input) {
  *input = nullptr;
  for (size_t i = 0; i < request->input_count; i++) {
    if (*request->inputs[i].name != name) continue;
    *input = &request->inputs[i];
    return nullptr;
  }
  return InvalidArg("the request has no input '" + std::string(name) + "'");
}

TRITONSERVER_Error* TRITONBACKEND_RequestInputByIndex(TRITONBACKEND_Request* request, uint32_t index,
                                                      TRITONBACKEND_Input** input) {
  *input = nullptr;
  if (index >= request->input_count) return OutOfRange("input", index, request->input_count);
  *input = &request->inputs[index];
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_RequestOutputCount(TRITONBACKEND_Request* request, uint32_t* count) {
  return WithDetails(request, [&](const nereid::RequestDetails& details) -> TRITONSERVER_Error* {
    *count = static_cast<uint32_t>(details.outputs.size());
    return nullptr;
  });
}

TRITONSERVER_Error* TRITONBACKEND_RequestOutputName(TRITONBACKEND_Request* request, uint32_t index, const char** name) {
  *name = nullptr;
  return WithDetails(request, [&](const nereid::RequestDetails& details) -> TRITONSERVER_Error* {
    if (index >= details.outputs.size()) return OutOfRange("requested output", index, details.outputs.size());
    *name = details.outputs[index].c_str();
    return nullptr;
  });
}

TRITONSERVER_Error* TRITONBACKEND_RequestParameterCount(TRITONBACKEND_Request* request, uint32_t* count) {
  return WithDetails(request, [&](const nereid::RequestDetails& details) -> TRITONSERVER_Error* {
    *count = static_cast<uint32_t>(details.parameters.size());
    return nullptr;
  });
}

TRITONSERVER_Error* TRITONBACKEND_RequestParameter(TRITONBACKEND_Request* request, uint32_t index, const char** key,
                                                   TRITONSERVER_ParameterType* type, const void** value) {
  return WithDetails(request, [&](const nereid::RequestDetails& details) -> TRITONSERVER_Error* {
    if (index >= details.parameters.size()) return OutOfRange("parameter", index, details.parameters.size());
    const nereid::RequestParameter& parameter = details.parameters[index];
    *key = parameter.key.c_str();
    *type = static_cast<TRITONSERVER_ParameterType>(parameter.value.index());
    if (const auto* text = std::get_if<std::string>(&parameter.value)) {
      *value = text->c_str();
    } else {
      *value = std::visit([](const auto& held) -> const void* { return &held; }, parameter.value);
    }
    return nullptr;
  });
}

TRITONSERVER_Error* TRITONBACKEND_InputProperties(TRITONBACKEND_Input* input, const char** name,
                                                  TRITONSERVER_DataType* datatype, const int64_t** shape,
                                                  uint32_t* dims_count, uint64_t* byte_size, uint32_t* buffer_count) {
  if (name != nullptr) *name = input->name->c_str();
  if (datatype != nullptr) *datatype = input->datatype;
  if (shape != nullptr) *shape = input->shape.data();
  if (dims_count != nullptr) *dims_count = static_cast<uint32_t>(input->shape.size());
  if (byte_size != nullptr) *byte_size = input->byte_size;
  if (buffer_count != nullptr) *buffer_count = 1;
  return nullptr;
}

// There is one host policy.
TRITONSERVER_Error* TRITONBACKEND_InputPropertiesForHostPolicy(TRITONBACKEND_Input* input, const char* /*host_policy*/,
                                                               const char** name, TRITONSERVER_DataType* datatype,
                                                               const int64_t** shape, uint32_t* dims_count,
                                                               uint64_t* byte_size, uint32_t* buffer_count) {
  return TRITONBACKEND_InputProperties(input, name, datatype, shape, dims_count, byte_size, buffer_count);
}

TRITONSERVER_Error* TRITONBACKEND_InputBuffer(TRITONBACKEND_Input* input, uint32_t index, const void** buffer,
                                              uint64_t* byte_size, TRITONSERVER_MemoryType* memory_type,
                                              int64_t* memory_type_id) {
  *buffer = nullptr;
  *byte_size = 0;
  if (index > 0) return InvalidArg("input '" + *input->name + "' has one buffer, not " + std::to_string(index + 1));
  return WithDetails(input->request, [&](const nereid::RequestDetails& details) -> TRITONSERVER_Error* {
    *buffer = details.buffers[static_cast<size_t>(input - input->request->inputs.data())];
    *byte_size = input->byte_size;
    *memory_type = TRITONSERVER_MEMORY_CPU;
    *memory_type_id = 0;
    return nullptr;
  });
}

TRITONSERVER_Error* TRITONBACKEND_InputBufferForHostPolicy(TRITONBACKEND_Input* input, const char* /*host_policy*/,
                                                           uint32_t index, const void** buffer, uint64_t* byte_size,
                                                           TRITONSERVER_MemoryType* memory_type,
                                                           int64_t* memory_type_id) {
  return TRITONBACKEND_InputBuffer(input, index, buffer, byte_size, memory_type, memory_type_id);
}
