// Logs everything that a library can ask, one fact a line. Includes every
// request.
#include <sstream>
#include <string>
#include <thread>

#include "batching_api.h"

namespace {

void Say(const std::string &text, LogLevel level = 0) {
  TRITONSERVER_LogMessage(level, __FILE__, __LINE__, text.c_str());
}

// The error's text, freed; empty without one.
std::string Text(TRITONSERVER_Error *error) {
  if (error == nullptr)
    return "";
  const std::string text = "(" + std::to_string(TRITONSERVER_ErrorCode(error)) +
                           " " + TRITONSERVER_ErrorCodeString(error) + ": " +
                           TRITONSERVER_ErrorMessage(error) + ")";
  TRITONSERVER_ErrorDelete(error);
  return text;
}

std::string Shape(const int64_t *shape, uint32_t rank) {
  std::string text = "[";
  for (uint32_t i = 0; i < rank; i++)
    text += (i > 0 ? "," : "") + std::to_string(shape[i]);
  return text + "]";
}

void SayInput(TRITONBACKEND_Input *input) {
  const char *name = nullptr;
  DataType datatype = 0;
  const int64_t *shape = nullptr;
  uint32_t rank = 0;
  uint64_t byte_size = 0;
  uint32_t buffers = 0;
  TRITONBACKEND_InputProperties(input, &name, &datatype, &shape, &rank,
                                &byte_size, &buffers);
  std::ostringstream out;
  out << "input " << name << " " << TRITONSERVER_DataTypeString(datatype) << " "
      << Shape(shape, rank) << " " << byte_size << " bytes in " << buffers;
  const void *data = nullptr;
  MemoryType memory = 9;
  int64_t memory_id = 9;
  const std::string error = Text(TRITONBACKEND_InputBuffer(
      input, 0, &data, &byte_size, &memory, &memory_id));
  out << ", " << TRITONSERVER_MemoryTypeString(memory) << " " << memory_id
      << error;
  if (byte_size > 0)
    out << ", last byte "
        << static_cast<int>(static_cast<const uint8_t *>(data)[byte_size - 1]);
  Say(out.str());
  uint64_t same = 0;
  TRITONBACKEND_InputPropertiesForHostPolicy(input, "cpu", nullptr, nullptr,
                                             nullptr, nullptr, &same, nullptr);
  const void *again = nullptr;
  TRITONBACKEND_InputBufferForHostPolicy(input, "cpu", 0, &again, &same,
                                         &memory, &memory_id);
  if (same != byte_size || again != data)
    Say("a host policy changes the input", 2);
  const std::string refused = Text(TRITONBACKEND_InputBuffer(
      input, 1, &data, &byte_size, &memory, &memory_id));
  Say("second buffer: " + refused);
}

void SayParameter(TRITONBACKEND_Request *request, uint32_t index) {
  const char *key = nullptr;
  ParameterType type = 0;
  const void *value = nullptr;
  TRITONBACKEND_RequestParameter(request, index, &key, &type, &value);
  std::ostringstream out;
  out << "parameter " << key << " ";
  if (type == 0)
    out << "string " << static_cast<const char *>(value);
  if (type == 1)
    out << "int " << *static_cast<const int64_t *>(value);
  if (type == 2)
    out << "bool " << *static_cast<const bool *>(value);
  if (type == 3)
    out << "double " << *static_cast<const double *>(value);
  Say(out.str());
}

} // namespace

TRITONSERVER_Error *
TRITONBACKEND_ModelBatcherInitialize(TRITONBACKEND_Batcher **batcher,
                                     TRITONBACKEND_Model *model) {
  *batcher = nullptr;
  uint32_t versions[4];
  TRITONSERVER_ApiVersion(&versions[0], &versions[1]);
  TRITONBACKEND_ApiVersion(&versions[2], &versions[3]);
  std::ostringstream out;
  out << "server " << versions[0] << "." << versions[1] << ", backend "
      << versions[2] << "." << versions[3];
  Say(out.str());
  const char *name = nullptr;
  const char *location = nullptr;
  uint64_t version = 0;
  ArtifactType type = 9;
  TRITONBACKEND_ModelName(model, &name);
  TRITONBACKEND_ModelVersion(model, &version);
  TRITONBACKEND_ModelRepository(model, &type, &location);
  Say("model " + std::string(name) + " " + std::to_string(version) + " " +
      std::to_string(type) + " " + location);
  TRITONSERVER_Message *config = nullptr;
  Say("config 2: " + Text(TRITONBACKEND_ModelConfig(model, 2, &config)));
  TRITONBACKEND_ModelConfig(model, 1, &config);
  const char *base = nullptr;
  size_t size = 0;
  TRITONSERVER_MessageSerializeToJson(config, &base, &size);
  TRITONSERVER_Message *copy = nullptr;
  TRITONSERVER_MessageNewFromSerializedJson(&copy, base, size);
  TRITONSERVER_MessageDelete(config);
  TRITONSERVER_MessageSerializeToJson(copy, &base, &size);
  Say("config 1: " + std::string(base, size), 1);
  TRITONSERVER_MessageDelete(copy);
  for (const char *datatype : {"BOOL", "FP16", "BYTES", "BF16", "FP8"}) {
    const DataType number = TRITONSERVER_StringToDataType(datatype);
    Say(std::string(datatype) + " " + std::to_string(number) + " " +
        TRITONSERVER_DataTypeString(number) + " " +
        std::to_string(TRITONSERVER_DataTypeByteSize(number)));
  }
  Say("verbose", 3);
  return TRITONSERVER_LogIsEnabled(0)
             ? nullptr
             : TRITONSERVER_ErrorNew(1, "nothing is logged");
}

TRITONSERVER_Error *
TRITONBACKEND_ModelBatchInitialize(const TRITONBACKEND_Batcher *,
                                   void **state) {
  *state = nullptr;
  Say("batch");
  return nullptr;
}

TRITONSERVER_Error *
TRITONBACKEND_ModelBatchIncludeRequest(TRITONBACKEND_Request *request, void *,
                                       bool *includes) {
  *includes = true;
  const char *text = "";
  uint64_t number = 0;
  uint32_t count = 0;
  bool is_cancelled = false;
  // Of the library's own: what is not there yet can only be had on the thread
  // of the call.
  std::string elsewhere;
  std::thread([&] {
    elsewhere = Text(TRITONBACKEND_RequestId(request, &text));
  }).join();
  Say("elsewhere: " + elsewhere);
  TRITONBACKEND_RequestId(request, &text);
  Say("id " + std::string(text));
  const std::string not_number =
      Text(TRITONBACKEND_RequestCorrelationId(request, &number));
  Say("correlation number " +
      (not_number.empty() ? std::to_string(number) : not_number));
  const std::string not_text =
      Text(TRITONBACKEND_RequestCorrelationIdString(request, &text));
  Say("correlation string " + (not_text.empty() ? text : not_text));
  TRITONBACKEND_RequestFlags(request, &count);
  TRITONBACKEND_RequestIsCancelled(request, &is_cancelled);
  Say("flags " + std::to_string(count) + (is_cancelled ? " cancelled" : ""));
  TRITONBACKEND_RequestInputCount(request, &count);
  for (uint32_t i = 0; i < count; i++) {
    TRITONBACKEND_Input *input = nullptr;
    TRITONBACKEND_Input *same = nullptr;
    TRITONBACKEND_RequestInputByIndex(request, i, &input);
    TRITONBACKEND_RequestInputName(request, i, &text);
    TRITONBACKEND_RequestInput(request, text, &same);
    if (same != input)
      Say("the input by name is another", 2);
    SayInput(input);
  }
  TRITONBACKEND_Input *none = nullptr;
  Say("input out of range: " +
      Text(TRITONBACKEND_RequestInputByIndex(request, count, &none)));
  Say("unknown input: " +
      Text(TRITONBACKEND_RequestInput(request, "none", &none)));
  TRITONBACKEND_RequestOutputCount(request, &count);
  for (uint32_t i = 0; i < count; i++) {
    TRITONBACKEND_RequestOutputName(request, i, &text);
    Say("output " + std::string(text));
  }
  Say("output out of range: " +
      Text(TRITONBACKEND_RequestOutputName(request, count, &text)));
  TRITONBACKEND_RequestParameterCount(request, &count);
  for (uint32_t i = 0; i < count; i++)
    SayParameter(request, i);
  ParameterType type = 0;
  const void *value = nullptr;
  Say("parameter out of range: " + Text(TRITONBACKEND_RequestParameter(
                                       request, count, &text, &type, &value)));
  return nullptr;
}

TRITONSERVER_Error *TRITONBACKEND_ModelBatchFinalize(void *) {
  Say("a batch without state was finalised", 2);
  return nullptr;
}

TRITONSERVER_Error *
TRITONBACKEND_ModelBatcherFinalize(TRITONBACKEND_Batcher *) {
  Say("finalised");
  return nullptr;
}
