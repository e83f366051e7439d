#pragma once

#include <string>
#include <vector>

namespace nereid {

struct BuildInfo {
  std::string torch_version;
  bool cuda = false;
  std::vector<std::string> gpus;  // compute capability of each
  std::string cpu_capability;  // `avx512`, `avx2`, `default`, …
};

// Any thread.
BuildInfo GetBuildInfo();

}  // namespace nereid
