// Shared libraries that come with models. Opening one runs its code, with all rights of the process.
#pragma once

#include <memory>
#include <string>

#include "runtime/status.h"

namespace nereid {

// Opens a library that registers operators, for good: torch cannot do without operators that it has seen. A file that is
// open already, or a copy of one, is left as it is. UNSUPPORTED if the file was replaced since it was opened. Different
// libraries that define one operator end the process. Blocks; any thread.
Status LoadOperators(const std::string& path);

struct ModelInitOptions {
  std::string library;          // absolute path
  std::string model_directory;  // passed to the library
  int device = -1;              // passed to the library; −1: CPU
};

// Set-up of a model by a library with
//
//   extern "C" void* triton_pytorch_model_init(const char* model_directory, int device);
//   extern "C" void triton_pytorch_model_fini(void* state);     // optional; an older name ends in _release
//
// What either throws ends here.
class ModelInit {
 public:
  // Opens the library and calls its init once. Whatever that returns is passed to fini, null included. Blocks; any
  // thread.
  static StatusOr<std::shared_ptr<ModelInit>> Run(const ModelInitOptions& options);

  // Finish(), if that was not called. What fini throws is lost then.
  ~ModelInit();

  // Calls fini and closes the library; the second call waits for the first and does nothing. A library that registered
  // operators stays open. Everything that the library serves was freed before. Blocks; any thread.
  Status Finish();

  ModelInit(const ModelInit&) = delete;
  ModelInit& operator=(const ModelInit&) = delete;

 private:
  struct State;
  explicit ModelInit(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace nereid
