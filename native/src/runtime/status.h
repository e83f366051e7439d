// Status and StatusOr: how the runtime layer reports failure. No exception leaves it.
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace nereid {

// The eight codes of the inference protocol, and success.
enum class StatusCode {
  kOk,
  kUnknown,
  kInternal,
  kNotFound,
  kInvalidArg,
  kUnavailable,
  kUnsupported,
  kAlreadyExists,
  kCancelled,
};

// Spelling of a code as JS sees it: "INVALID_ARG".
constexpr const char* StatusCodeName(StatusCode code) {
  constexpr const char* kNames[] = {"OK",          "UNKNOWN",     "INTERNAL",       "NOT_FOUND", "INVALID_ARG",
                                    "UNAVAILABLE", "UNSUPPORTED", "ALREADY_EXISTS", "CANCELLED"};
  static_assert(std::size(kNames) == static_cast<size_t>(StatusCode::kCancelled) + 1);
  return kNames[static_cast<size_t>(code)];
}

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  static Status Internal(std::string message) { return {StatusCode::kInternal, std::move(message)}; }
  static Status InvalidArg(std::string message) { return {StatusCode::kInvalidArg, std::move(message)}; }
  static Status NotFound(std::string message) { return {StatusCode::kNotFound, std::move(message)}; }
  static Status Unsupported(std::string message) { return {StatusCode::kUnsupported, std::move(message)}; }
  static Status Unavailable(std::string message) { return {StatusCode::kUnavailable, std::move(message)}; }

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

// A value, or the reason why there is none.
template <typename T>
class [[nodiscard]] StatusOr {
 public:
  StatusOr(T value) : result_(std::move(value)) {}
  StatusOr(Status status) : result_(std::move(status)) { assert(!this->status().ok()); }

  bool ok() const { return std::holds_alternative<T>(result_); }
  Status status() const { return ok() ? Status() : std::get<Status>(result_); }
  T& value() { return std::get<T>(result_); }
  const T& value() const { return std::get<T>(result_); }

 private:
  std::variant<Status, T> result_;
};

}  // namespace nereid

#define NEREID_RETURN_IF_ERROR(expression)                                      \
  do {                                                                          \
    if (::nereid::Status status_ = (expression); !status_.ok()) return status_; \
  } while (false)
