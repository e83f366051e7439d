#include "runtime/torch_thread.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace nereid {
namespace {

std::atomic<int> threads = 0;

void EndIfRunning(int code) {
  if (threads == 0) return;
  std::fflush(nullptr);
  _exit(code);
}

}  // namespace

TorchThread::TorchThread() { threads++; }
TorchThread::~TorchThread() { threads--; }

void EndBeforeStatics([[maybe_unused]] int code) {
#ifdef __GLIBC__
  on_exit([](int code, void*) { EndIfRunning(code); }, nullptr);
#else
  static int code_of_exit = 0;
  code_of_exit = code;
  std::atexit([] { EndIfRunning(code_of_exit); });
#endif
}

}  // namespace nereid
