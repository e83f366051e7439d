// Large outputs that JS holds as external memory.
#pragma once

#include <napi.h>

#include <memory>
#include <unordered_map>

#include "runtime/batch.h"

namespace nereid {

// One per environment, shared with the finalizers of its buffers, which may come after the environment's own state is
// gone. Loop thread only.
class MemoryLedger : public std::enable_shared_from_this<MemoryLedger> {
 public:
  // An ArrayBuffer over the memory of a large output, which it takes. The memory is freed when the buffer is
  // collected or by Release(), whichever comes first. Null with a pending exception if the environment cannot make
  // one.
  napi_value Wrap(napi_env env, Output& output);

  // Detaches `buffer` and frees its memory now. Buffers of any other origin are detached only. False: not an
  // ArrayBuffer.
  bool Release(napi_env env, napi_value buffer);

  int64_t bytes() const { return bytes_; }
  int64_t tensors() const { return tensors_; }

 private:
  struct Entry {
    std::shared_ptr<MemoryLedger> ledger;
    std::unique_ptr<Memory> memory;  // null once freed
    const void* data = nullptr;
    int64_t bytes = 0;
  };

  static void Finalize(napi_env env, void* data, void* hint);
  void Free(Entry& entry);

  std::unordered_map<const void*, Entry*> entries_;  // those not freed, by address; the finalizer owns the entry
  int64_t bytes_ = 0;
  int64_t tensors_ = 0;
};

}  // namespace nereid
