// The edge of LibTorch: its exceptions end here. Includes torch headers.
#pragma once

#include <c10/util/Exception.h>

#include <exception>
#include <utility>

#include "runtime/status.h"

namespace nereid {

// Runs `body`, which returns a Status, and turns what it throws into one. Torch's own text is kept, without the C++
// stack, which costs milliseconds to name and helps nobody who serves a model.
template <typename Body>
auto Guard(Body&& body) noexcept -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (const c10::Error& error) {
    return Status::Internal(error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    return Status::Unavailable("out of memory");
  } catch (const std::exception& error) {
    return Status::Internal(error.what());
  } catch (...) {
    return Status::Internal("the model threw something that is not a C++ exception");
  }
}

}  // namespace nereid
