// A batch holds as many requests as have at most MAX_BATCH_VOLUME_BYTES bytes
// of inputs together.
#include <cstdlib>
#include <string>

#include "batching_api.h"

namespace {

TRITONSERVER_Error *InvalidArg(const std::string &message) {
  return TRITONSERVER_ErrorNew(3, message.c_str());
}

uint64_t LimitOf(const std::string &config) {
  size_t at = config.find("\"MAX_BATCH_VOLUME_BYTES\"");
  if (at == std::string::npos)
    return 0;
  at = config.find("\"string_value\"", at);
  if (at == std::string::npos)
    return 0;
  at = config.find('"', config.find(':', at));
  return std::strtoull(config.c_str() + at + 1, nullptr, 10);
}

} // namespace

TRITONSERVER_Error *
TRITONBACKEND_ModelBatcherInitialize(TRITONBACKEND_Batcher **batcher,
                                     TRITONBACKEND_Model *model) {
  TRITONSERVER_Message *message = nullptr;
  if (TRITONSERVER_Error *error = TRITONBACKEND_ModelConfig(model, 1, &message))
    return error;
  const char *base = nullptr;
  size_t byte_size = 0;
  if (TRITONSERVER_Error *error =
          TRITONSERVER_MessageSerializeToJson(message, &base, &byte_size))
    return error;
  const uint64_t limit = LimitOf(std::string(base, byte_size));
  if (TRITONSERVER_Error *error = TRITONSERVER_MessageDelete(message))
    return error;
  if (limit == 0)
    return InvalidArg(
        "parameter MAX_BATCH_VOLUME_BYTES is missing or no number");
  *batcher = reinterpret_cast<TRITONBACKEND_Batcher *>(new uint64_t(limit));
  return nullptr;
}

TRITONSERVER_Error *
TRITONBACKEND_ModelBatcherFinalize(TRITONBACKEND_Batcher *batcher) {
  delete reinterpret_cast<uint64_t *>(batcher);
  return nullptr;
}

TRITONSERVER_Error *
TRITONBACKEND_ModelBatchInitialize(const TRITONBACKEND_Batcher *batcher,
                                   void **left) {
  *left = new uint64_t(*reinterpret_cast<const uint64_t *>(batcher));
  return nullptr;
}

TRITONSERVER_Error *
TRITONBACKEND_ModelBatchIncludeRequest(TRITONBACKEND_Request *request,
                                       void *left, bool *includes) {
  uint32_t count = 0;
  if (TRITONSERVER_Error *error =
          TRITONBACKEND_RequestInputCount(request, &count))
    return error;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < count; i++) {
    TRITONBACKEND_Input *input = nullptr;
    if (TRITONSERVER_Error *error =
            TRITONBACKEND_RequestInputByIndex(request, i, &input))
      return error;
    uint64_t byte_size = 0;
    if (TRITONSERVER_Error *error = TRITONBACKEND_InputProperties(
            input, nullptr, nullptr, nullptr, nullptr, &byte_size, nullptr)) {
      return error;
    }
    bytes += byte_size;
  }
  uint64_t &room = *static_cast<uint64_t *>(left);
  *includes = bytes <= room;
  if (*includes)
    room -= bytes;
  return nullptr;
}

TRITONSERVER_Error *TRITONBACKEND_ModelBatchFinalize(void *left) {
  delete static_cast<uint64_t *>(left);
  return nullptr;
}
