#include "runtime/process_settings.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <torch/csrc/jit/passes/tensorexpr_fuser.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

namespace nereid {
namespace {

struct Flag {
  const char* name;
  std::optional<bool> ProcessSettings::* wanted;
  bool (*get)();
  void (*set)(bool);
};

constexpr size_t kFlagCount = 4;

const std::array<Flag, kFlagCount> kFlags = {{
    {"cudnn", &ProcessSettings::cudnn, [] { return at::globalContext().userEnabledCuDNN(); },
     [](bool on) { at::globalContext().setUserEnabledCuDNN(on); }},
    {"jitExecutor", &ProcessSettings::jit_executor, [] { return torch::jit::getExecutorMode().load(); },
     [](bool on) { torch::jit::getExecutorMode() = on; }},
    {"jitProfiling", &ProcessSettings::jit_profiling, [] { return torch::jit::getProfilingMode().load(); },
     [](bool on) { torch::jit::getProfilingMode() = on; }},
    {"tensorFuser", &ProcessSettings::tensor_fuser, [] { return torch::jit::tensorExprFuserEnabled(); },
     [](bool on) { torch::jit::setTensorExprFuserEnabled(on); }},
}};

struct Registry {
  std::mutex mutex;
  std::vector<const SettingsClaim*> claims;                // guarded by mutex; oldest first
  std::array<std::optional<bool>, kFlagCount> originals;   // guarded by mutex; torch's values of the flags that were set
  int inter_op_threads = 0;                                // guarded by mutex; 0: nobody asked yet
  std::string inter_op_owner;                              // guarded by mutex
  std::atomic<bool> disagreement = false;                  // written under mutex
};

// Never destroyed: models may outlive statics.
Registry& TheRegistry() {
  static auto* registry = new Registry;
  return *registry;
}

void Set(Registry& registry, size_t flag, bool value) {
  const bool current = kFlags[flag].get();
  if (!registry.originals[flag]) registry.originals[flag] = current;
  if (current != value) kFlags[flag].set(value);
}

// The newest claim on a flag.
std::optional<bool> WantedByClaims(const Registry& registry, const Flag& flag) {
  for (auto claim = registry.claims.rbegin(); claim != registry.claims.rend(); ++claim) {
    if ((*claim)->settings().*flag.wanted) return (*claim)->settings().*flag.wanted;
  }
  return std::nullopt;
}

const SettingsClaim* FindOther(const Registry& registry, const Flag& flag, bool value) {
  for (const SettingsClaim* claim : registry.claims) {
    if ((claim->settings().*flag.wanted).value_or(value) != value) return claim;
  }
  return nullptr;
}

bool AnyDisagreement(const Registry& registry) {
  return std::any_of(kFlags.begin(), kFlags.end(), [&](const Flag& flag) {
    const std::optional<bool> wanted = WantedByClaims(registry, flag);
    return wanted && FindOther(registry, flag, *wanted) != nullptr;
  });
}

std::optional<SettingConflict> ClaimInterOpThreads(Registry& registry, const ProcessSettings& settings) {
  const int wanted = settings.inter_op_threads;
  if (registry.inter_op_threads == 0) {
    try {
      at::set_num_interop_threads(wanted);
      registry.inter_op_threads = wanted;
      registry.inter_op_owner = settings.owner;
    } catch (const std::exception&) {
      // Torch has started its pool, or took the number from someone else in this process.
      const auto current = static_cast<int>(at::get_num_interop_threads());
      if (current != wanted) return SettingConflict{"interOpThreads", wanted, current, ""};
    }
    return std::nullopt;
  }
  if (registry.inter_op_threads == wanted) return std::nullopt;
  return SettingConflict{"interOpThreads", wanted, registry.inter_op_threads, registry.inter_op_owner};
}

}  // namespace

ProcessSettings CurrentProcessSettings() {
  ProcessSettings settings;
  for (const Flag& flag : kFlags) settings.*flag.wanted = flag.get();
  settings.inter_op_threads = static_cast<int>(at::get_num_interop_threads());
  return settings;
}

SettingsClaim::SettingsClaim(ProcessSettings settings) : settings_(std::move(settings)) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  for (size_t i = 0; i < kFlagCount; i++) {
    const std::optional<bool> wanted = settings_.*kFlags[i].wanted;
    if (!wanted) continue;
    if (const SettingsClaim* other = FindOther(registry, kFlags[i], *wanted)) {
      conflicts_.push_back({kFlags[i].name, *wanted, !*wanted, other->settings().owner});
    }
    Set(registry, i, *wanted);
  }
  if (settings_.inter_op_threads > 0) {
    if (auto conflict = ClaimInterOpThreads(registry, settings_)) conflicts_.push_back(std::move(*conflict));
  }
  registry.claims.push_back(this);
  registry.disagreement = AnyDisagreement(registry);
}

SettingsClaim::~SettingsClaim() {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  std::erase(registry.claims, this);
  for (size_t i = 0; i < kFlagCount; i++) {
    if (!(settings_.*kFlags[i].wanted)) continue;
    Set(registry, i, WantedByClaims(registry, kFlags[i]).value_or(*registry.originals[i]));
  }
  registry.disagreement = AnyDisagreement(registry);
}

void SettingsClaim::Renew() const {
  Registry& registry = TheRegistry();
  if (!registry.disagreement) return;
  const std::lock_guard lock(registry.mutex);
  for (size_t i = 0; i < kFlagCount; i++) {
    if (settings_.*kFlags[i].wanted) Set(registry, i, *(settings_.*kFlags[i].wanted));
  }
}

}  // namespace nereid
