#include "runtime/thread_scope.h"

#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/jit/python/update_graph_executor_opt.h>

#include "runtime/device.h"

namespace nereid {
namespace {

// Torch's own choice. Read once, because a count set on any thread is what threads that never set theirs start from.
int DefaultIntraOpThreads() {
  static const int threads = at::get_num_threads();
  return threads;
}

void SetIntraOpThreads(int threads) {
  thread_local int current = 0;
  const int wanted = threads > 0 ? threads : DefaultIntraOpThreads();
  if (wanted == current) return;
  at::set_num_threads(wanted);
  current = wanted;
}

}  // namespace

struct ThreadScope::Impl {
  Impl(bool inference_mode, int device) : inference(inference_mode), no_grad(false), device(device) {}

  c10::InferenceMode inference;
  c10::AutoGradMode no_grad;
  DeviceScope device;
};

ThreadScope::ThreadScope(const ThreadSettings& settings, int device)
    : impl_(std::make_unique<Impl>(settings.inference_mode, device)) {
  DefaultIntraOpThreads();
  SetIntraOpThreads(settings.intra_op_threads);
  torch::jit::setGraphExecutorOptimize(settings.optimized_execution);
}

ThreadScope::~ThreadScope() = default;

}  // namespace nereid
