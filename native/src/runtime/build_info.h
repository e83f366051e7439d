#pragma once

#include <string>

namespace nereid {

struct BuildInfo {
  std::string torch_version;
  bool cuda = false;
  std::string cpu_capability;  // `avx512`, `avx2`, `default`, …
};

// Any thread.
BuildInfo GetBuildInfo();

}  // namespace nereid
