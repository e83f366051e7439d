#include "runtime/build_info.h"

#include <ATen/Version.h>
#include <torch/version.h>

#include <algorithm>
#include <cctype>

#include "runtime/device.h"

namespace nereid {

BuildInfo GetBuildInfo() {
  std::string capability = at::get_cpu_capability();
  std::transform(capability.begin(), capability.end(), capability.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return {TORCH_VERSION, HasCuda(), ComputeCapabilities(), capability};
}

}  // namespace nereid
