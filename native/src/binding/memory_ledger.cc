#include "binding/memory_ledger.h"

#include <utility>

namespace nereid {

napi_value MemoryLedger::Wrap(napi_env env, Output& output) {
  auto* entry = new Entry{shared_from_this(), std::move(output.memory), output.data, static_cast<int64_t>(output.size)};
  entries_.emplace(entry->data, entry);
  bytes_ += entry->bytes;
  tensors_++;
  napi_value buffer = nullptr;
  // V8 counts the bytes of an external buffer towards its collections, as it does those of its own: no adjustment is
  // due here.
  auto* data = const_cast<uint8_t*>(output.data);
  if (napi_create_external_arraybuffer(env, data, output.size, Finalize, entry, &buffer) != napi_ok)
    Finalize(env, data, entry);
  return buffer;
}

bool MemoryLedger::Release(napi_env env, napi_value buffer) {
  bool is_buffer = false;
  if (napi_is_arraybuffer(env, buffer, &is_buffer) != napi_ok || !is_buffer) return false;
  void* data = nullptr;
  size_t size = 0;
  if (napi_get_arraybuffer_info(env, buffer, &data, &size) != napi_ok) return false;
  if (napi_detach_arraybuffer(env, buffer) != napi_ok)
    return true;  // is already, or may not be: then JS can still reach it
  // Node calls the finalizer in a later turn of the loop; the memory need not wait for that.
  if (const auto found = entries_.find(data); size > 0 && found != entries_.end()) Free(*found->second);
  return true;
}

void MemoryLedger::Finalize(napi_env /*env*/, void* /*data*/, void* hint) {
  const std::unique_ptr<Entry> entry(static_cast<Entry*>(hint));
  if (entry->memory) entry->ledger->Free(*entry);
}

void MemoryLedger::Free(Entry& entry) {
  entries_.erase(entry.data);
  bytes_ -= entry.bytes;
  tensors_--;
  entry.memory.reset();
}

}  // namespace nereid
