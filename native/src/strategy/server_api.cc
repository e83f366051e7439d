// TRITONSERVER_*: errors, messages, the log, and names.
#include <array>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string>

#include "strategy/handles.h"
#include "strategy/triton_api.h"

namespace {

struct DataTypeRow {
  TRITONSERVER_DataType datatype;
  const char* name;
  uint32_t byte_size;
};

constexpr std::array<DataTypeRow, TRITONSERVER_TYPE_BF16 + 1> kDataTypes = {{
    {TRITONSERVER_TYPE_INVALID, "<invalid>", 0},
    {TRITONSERVER_TYPE_BOOL, "BOOL", 1},
    {TRITONSERVER_TYPE_UINT8, "UINT8", 1},
    {TRITONSERVER_TYPE_UINT16, "UINT16", 2},
    {TRITONSERVER_TYPE_UINT32, "UINT32", 4},
    {TRITONSERVER_TYPE_UINT64, "UINT64", 8},
    {TRITONSERVER_TYPE_INT8, "INT8", 1},
    {TRITONSERVER_TYPE_INT16, "INT16", 2},
    {TRITONSERVER_TYPE_INT32, "INT32", 4},
    {TRITONSERVER_TYPE_INT64, "INT64", 8},
    {TRITONSERVER_TYPE_FP16, "FP16", 2},
    {TRITONSERVER_TYPE_FP32, "FP32", 4},
    {TRITONSERVER_TYPE_FP64, "FP64", 8},
    {TRITONSERVER_TYPE_BYTES, "BYTES", 0},
    {TRITONSERVER_TYPE_BF16, "BF16", 2},
}};

constexpr bool InOrder() {
  for (size_t i = 0; i < kDataTypes.size(); i++) {
    if (static_cast<size_t>(kDataTypes[i].datatype) != i) return false;
  }
  return true;
}
static_assert(InOrder(), "kDataTypes is indexed by the datatype");

const DataTypeRow& RowOf(TRITONSERVER_DataType datatype) {
  const auto index = static_cast<size_t>(datatype);
  return kDataTypes[index < kDataTypes.size() ? index : 0];
}

thread_local nereid::LogSink* log_sink = nullptr;

}  // namespace

void nereid_strategy_log_to(nereid::LogSink* sink) { log_sink = sink; }

TRITONSERVER_Error* TRITONSERVER_ApiVersion(uint32_t* major, uint32_t* minor) {
  *major = 1;
  *minor = 34;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_ErrorNew(TRITONSERVER_Error_Code code, const char* message) {
  return new TRITONSERVER_Error{code, message == nullptr ? "" : message};
}

void TRITONSERVER_ErrorDelete(TRITONSERVER_Error* error) { delete error; }

TRITONSERVER_Error_Code TRITONSERVER_ErrorCode(TRITONSERVER_Error* error) { return error->code; }

const char* TRITONSERVER_ErrorCodeString(TRITONSERVER_Error* error) {
  constexpr const char* kNames[] = {"Unknown",     "Internal",    "Not found",      "Invalid argument",
                                    "Unavailable", "Unsupported", "Already exists", "Cancelled"};
  static_assert(std::size(kNames) == TRITONSERVER_ERROR_CANCELLED + 1);
  const auto index = static_cast<size_t>(error->code);
  return index < std::size(kNames) ? kNames[index] : "<invalid code>";
}

const char* TRITONSERVER_ErrorMessage(TRITONSERVER_Error* error) { return error->message.c_str(); }

TRITONSERVER_Error* TRITONSERVER_MessageNewFromSerializedJson(TRITONSERVER_Message** message, const char* base,
                                                              size_t byte_size) {
  *message = new TRITONSERVER_Message{std::string(base, byte_size)};
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_MessageDelete(TRITONSERVER_Message* message) {
  delete message;
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_MessageSerializeToJson(TRITONSERVER_Message* message, const char** base,
                                                        size_t* byte_size) {
  *base = message->json.data();
  *byte_size = message->json.size();
  return nullptr;
}

bool TRITONSERVER_LogIsEnabled(TRITONSERVER_LogLevel /*level*/) {
  return true;  // whether it is shown is the log's own setting
}

TRITONSERVER_Error* TRITONSERVER_LogMessage(TRITONSERVER_LogLevel level, const char* /*filename*/, int /*line*/,
                                            const char* message) {
  if (log_sink != nullptr) {
    log_sink->Log(level, message);
  } else {
    std::fprintf(stderr, "%s\n", message);  // a thread of the library's own
  }
  return nullptr;
}

const char* TRITONSERVER_DataTypeString(TRITONSERVER_DataType datatype) { return RowOf(datatype).name; }

TRITONSERVER_DataType TRITONSERVER_StringToDataType(const char* name) {
  for (const DataTypeRow& row : kDataTypes) {
    if (std::strcmp(row.name, name) == 0) return row.datatype;
  }
  return TRITONSERVER_TYPE_INVALID;
}

uint32_t TRITONSERVER_DataTypeByteSize(TRITONSERVER_DataType datatype) { return RowOf(datatype).byte_size; }

const char* TRITONSERVER_MemoryTypeString(TRITONSERVER_MemoryType memory_type) {
  constexpr const char* kNames[] = {"CPU", "CPU_PINNED", "GPU"};
  const auto index = static_cast<size_t>(memory_type);
  return index < std::size(kNames) ? kNames[index] : "<invalid>";
}
