#include "runtime/library.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <dlfcn.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "runtime/guard.h"
#include "runtime/path.h"

namespace nereid {
namespace {

// Size and hash of a file: copies of one library are one library.
using Content = std::pair<size_t, size_t>;

Content ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return {bytes.size(), std::hash<std::string>()(bytes)};
}

// Libraries that stay open until the process ends. A second copy of operators that torch has would end the process:
// torch throws while the library is being opened, where nothing can catch.
struct Residents {
  std::mutex mutex;
  std::map<std::string, Content> contents;  // guarded by mutex; by path
  std::map<Content, std::string> opened;    // guarded by mutex; the path under which it was opened

  void Add(const std::string& path, const Content& content) {
    contents.emplace(path, content);
    opened.emplace(content, path);
  }

  // Whether the file at `path` may be opened, and under which path. Null: under its own.
  Status Find(const std::string& path, const Content& content, const std::string*& resident) const {
    const auto known = contents.find(path);
    if (known != contents.end() && known->second != content) {
      return Status::Unsupported("the file was replaced since this process opened it, and operators that are in use cannot be: " +
                                 path + ". Restart the process to use the new file.");
    }
    const auto found = opened.find(content);
    resident = found == opened.end() ? nullptr : &found->second;
    return Status();
  }
};

Residents& TheResidents() {
  static auto* residents = new Residents;  // never destroyed, as models may outlive statics
  return *residents;
}

Status Open(const std::string& path, int flags, void*& handle) {
  return Guard([&]() -> Status {
    handle = ::dlopen(path.c_str(), flags);
    if (handle != nullptr) return Status();
    const char* reason = ::dlerror();
    return Status::InvalidArg("the library cannot be opened: " + std::string(reason == nullptr ? path : reason));
  });
}

size_t OperatorCount() { return c10::Dispatcher::singleton().getAllOpNames().size(); }

using InitFunction = void* (*)(const char*, int);
using FiniFunction = void (*)(void*);

constexpr const char* kInit = "triton_pytorch_model_init";
constexpr const char* kFini = "triton_pytorch_model_fini";
constexpr const char* kOldFini = "triton_pytorch_model_release";

template <typename Function>
Function Find(void* handle, const char* symbol) {
  return reinterpret_cast<Function>(::dlsym(handle, symbol));
}

}  // namespace

Status LoadOperators(const std::string& path) {
  NEREID_RETURN_IF_ERROR(CheckReadable(path));
  Residents& residents = TheResidents();
  const std::lock_guard lock(residents.mutex);
  const Content content = ContentOf(path);
  const std::string* resident = nullptr;
  NEREID_RETURN_IF_ERROR(residents.Find(path, content, resident));
  // Global, as compiled packages may call functions of the library by name.
  void* handle = nullptr;
  if (resident == nullptr) NEREID_RETURN_IF_ERROR(Open(path, RTLD_NOW | RTLD_GLOBAL, handle));
  residents.Add(path, content);
  return Status();
}

struct ModelInit::State {
  std::mutex mutex;
  void* handle = nullptr;  // guarded by mutex; null once finished
  FiniFunction fini = nullptr;
  void* value = nullptr;
};

ModelInit::ModelInit(std::unique_ptr<State> state) : state_(std::move(state)) {}

ModelInit::~ModelInit() { static_cast<void>(Finish().ok()); }

StatusOr<std::shared_ptr<ModelInit>> ModelInit::Run(const ModelInitOptions& options) {
  NEREID_RETURN_IF_ERROR(CheckReadable(options.library));
  Residents& residents = TheResidents();
  const std::lock_guard lock(residents.mutex);
  const Content content = ContentOf(options.library);
  const std::string* resident = nullptr;
  NEREID_RETURN_IF_ERROR(residents.Find(options.library, content, resident));
  const std::string& path = resident == nullptr ? options.library : *resident;
  const size_t operators = OperatorCount();
  auto state = std::make_unique<State>();
  NEREID_RETURN_IF_ERROR(Open(path, RTLD_NOW | RTLD_LOCAL, state->handle));
  const auto init = Find<InitFunction>(state->handle, kInit);
  Status status = Status::InvalidArg(std::string("the library has no function ") + kInit + ": " + path);
  if (init != nullptr) {
    status = Guard([&] {
      state->value = init(options.model_directory.c_str(), options.device);
      return Status();
    });
    if (!status.ok()) status = Status::Internal(std::string(kInit) + " threw: " + status.message());
  }
  if (OperatorCount() != operators) {
    ::dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);  // torch may hold on to their code
    residents.Add(path, content);
  }
  if (!status.ok()) {
    ::dlclose(state->handle);
    return status;
  }
  state->fini = Find<FiniFunction>(state->handle, kFini);
  if (state->fini == nullptr) state->fini = Find<FiniFunction>(state->handle, kOldFini);
  return std::shared_ptr<ModelInit>(new ModelInit(std::move(state)));
}

Status ModelInit::Finish() {
  const std::lock_guard lock(state_->mutex);
  if (state_->handle == nullptr) return Status();
  const Status status = Guard([&] {
    if (state_->fini != nullptr) state_->fini(state_->value);
    return Status();
  });
  ::dlclose(std::exchange(state_->handle, nullptr));
  return status.ok() ? status : Status::Internal("the library's finaliser threw: " + status.message());
}

}  // namespace nereid
