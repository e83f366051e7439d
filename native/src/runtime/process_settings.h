// Settings that torch keeps once for the whole process, and which loaded models want them how.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace nereid {

// What a model asks for. Absent, or 0: left as torch has it.
struct ProcessSettings {
  std::string owner;  // the model, for messages
  std::optional<bool> cudnn;
  std::optional<bool> jit_executor;
  std::optional<bool> jit_profiling;
  std::optional<bool> tensor_fuser;
  int inter_op_threads = 0;
};

// A setting that a model asks for and that is otherwise in force or wanted.
struct SettingConflict {
  std::string setting;  // as binding.d.ts spells it
  int value = 0;        // asked for; a flag is 0 or 1
  int other_value = 0;
  std::string other_owner;  // empty: torch itself, which refuses the change
};

// What is in force now. Any thread.
ProcessSettings CurrentProcessSettings();

// Holds what a loaded model asks for until it is destroyed. The newest claim decides a flag; while claims disagree, each
// model sets its own before its runs, and a run beside one of another model may see the other's. A flag that nobody
// claims any more is what torch had. The inter-op threads stay as the first claim set them: torch takes them once. Any
// thread.
class SettingsClaim {
 public:
  explicit SettingsClaim(ProcessSettings settings);
  ~SettingsClaim();
  SettingsClaim(const SettingsClaim&) = delete;
  SettingsClaim& operator=(const SettingsClaim&) = delete;

  // Sets the flags of this claim if another claim disagrees. Costs nothing else.
  void Renew() const;

  // Found when the claim was made.
  const std::vector<SettingConflict>& conflicts() const { return conflicts_; }
  const ProcessSettings& settings() const { return settings_; }

 private:
  const ProcessSettings settings_;
  std::vector<SettingConflict> conflicts_;
};

}  // namespace nereid
