// What stands behind the handles of triton_api.h. The addon makes and reads them, libtritonserver.so answers from them:
// both are built together, from this file.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "strategy/triton_api.h"

struct TRITONSERVER_Error {
  TRITONSERVER_Error_Code code;
  std::string message;
};

struct TRITONSERVER_Message {
  std::string json;
};

struct TRITONBACKEND_Model {
  std::string name;
  uint64_t version = 0;
  std::string directory;
  std::string config;  // JSON
};

struct TRITONBACKEND_Input {
  TRITONBACKEND_Request* request = nullptr;
  const std::string* name = nullptr;
  TRITONSERVER_DataType datatype = TRITONSERVER_TYPE_INVALID;
  std::vector<int64_t> shape;
  uint64_t byte_size = 0;
};

namespace nereid {

// A parameter's value stands where its type says: TRITONBACKEND_RequestParameter hands out the address.
struct RequestParameter {
  std::string key;
  std::variant<std::string, int64_t, bool, double> value;
};

// What libraries seldom ask for, and is therefore fetched only then.
struct RequestDetails {
  std::string id;
  std::variant<uint64_t, std::string> correlation_id;
  std::vector<std::string> outputs;
  std::vector<RequestParameter> parameters;
  std::vector<const void*> buffers;  // one for each input
};

class DetailSource {
 public:
  // Null with a reason where they cannot be had: away from the scheduling thread, or if JS threw.
  virtual const RequestDetails* Details(std::string& reason) = 0;

 protected:
  ~DetailSource() = default;
};

// Takes what a library logs.
class LogSink {
 public:
  virtual void Log(TRITONSERVER_LogLevel level, const char* message) = 0;

 protected:
  ~LogSink() = default;
};

}  // namespace nereid

struct TRITONBACKEND_Request {
  std::vector<TRITONBACKEND_Input> inputs;
  size_t input_count = 0;  // the others are memory of earlier requests
  uint32_t flags = 0;
  bool is_cancelled = false;
  nereid::DetailSource* source = nullptr;
};

// Where TRITONSERVER_LogMessage on this thread goes, until the next call; null for standard error. Exported for the
// addon alone.
extern "C" __attribute__((visibility("default"))) void nereid_strategy_log_to(nereid::LogSink* sink);
