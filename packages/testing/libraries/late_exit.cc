// Preloaded, ends a process that exits with 99, after the destructors of the statics of all libraries that came later.
#include <unistd.h>

#include <cstdlib>

__attribute__((constructor)) static void Register() {
  std::atexit([] { _exit(99); });
}
