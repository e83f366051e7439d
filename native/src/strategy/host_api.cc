#include "strategy/host_api.h"

#include <dlfcn.h>

#include <filesystem>
#include <string>

namespace nereid {
namespace {

constexpr const char* kFile = "libtritonserver.so";

std::string DlError() {
  const char* reason = ::dlerror();
  return reason == nullptr ? "no reason given" : reason;
}

StatusOr<const HostApi*> Open() {
  static HostApi api;
  Dl_info addon;
  if (::dladdr(reinterpret_cast<const void*>(&OpenHostApi), &addon) == 0)
    return Status::Internal("the path of the addon cannot be found");
  const std::string path = (std::filesystem::path(addon.dli_fname).parent_path() / kFile).string();
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr)
    return Status::Unavailable("the interface for batching libraries cannot be opened: " + DlError());
  api.log_to = reinterpret_cast<decltype(api.log_to)>(::dlsym(handle, "nereid_strategy_log_to"));
  if (api.log_to == nullptr) return Status::Unavailable("the interface for batching libraries is damaged: " + path);
  return &api;
}

}  // namespace

StatusOr<const HostApi*> OpenHostApi() {
  static const StatusOr<const HostApi*> opened = Open();
  return opened;
}

}  // namespace nereid
