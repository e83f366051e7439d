// Makes the functions of triton_api.h visible to libraries. Node opens the addon for itself alone, so they live in
// libtritonserver.so beside it, which is opened for everyone: nothing else of the addon, and nothing of LibTorch,
// becomes visible to strangers. Its name is the one that libraries built for Triton are linked with.
#pragma once

#include "runtime/status.h"
#include "strategy/handles.h"

namespace nereid {

struct HostApi {
  void (*log_to)(LogSink* sink) = nullptr;
};

// Opens it on first use, for good. Any thread.
StatusOr<const HostApi*> OpenHostApi();

}  // namespace nereid
