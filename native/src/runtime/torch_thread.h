// Threads of ours on which LibTorch's code runs, and the end of a process that has some.
#pragma once

namespace nereid {

// Counts the thread that holds it. The first local of such a thread, so that it goes last.
class TorchThread {
 public:
  TorchThread();
  ~TorchThread();
  TorchThread(const TorchThread&) = delete;
  TorchThread& operator=(const TorchThread&) = delete;
};

// exit() runs the destructors of LibTorch's statics, which a model that still runs uses. After this, exit() ends the
// process without them while there are such threads. To be called when exit() is near: what is constructed later is
// destructed first. `code` is for systems that do not tell handlers the one given to exit().
void EndBeforeStatics(int code);

}  // namespace nereid
