#include "runtime/process_settings.h"

#include <memory>

#include "check.h"

namespace nereid {
namespace {

ProcessSettings Wanting(const std::string& owner, bool profiling) {
  ProcessSettings settings;
  settings.owner = owner;
  settings.jit_profiling = profiling;
  return settings;
}

bool Profiling() { return CurrentProcessSettings().jit_profiling.value(); }

}  // namespace

TEST(process_settings, hold_while_they_are_claimed) {
  const bool before = Profiling();
  {
    const SettingsClaim claim(Wanting("a", !before));
    CHECK(claim.conflicts().empty());
    CHECK_EQ(Profiling(), !before);
  }
  CHECK_EQ(Profiling(), before);
}

TEST(process_settings, that_are_not_asked_for_stay) {
  const ProcessSettings before = CurrentProcessSettings();
  const SettingsClaim claim({.owner = "a"});
  const ProcessSettings after = CurrentProcessSettings();
  CHECK(after.jit_executor == before.jit_executor);
  CHECK(after.tensor_fuser == before.tensor_fuser);
  CHECK(after.cudnn == before.cudnn);
}

TEST(process_settings, name_the_model_that_wants_them_otherwise) {
  const SettingsClaim first(Wanting("a", true));
  const SettingsClaim second(Wanting("b", false));
  CHECK_EQ(second.conflicts().size(), size_t{1});
  CHECK_EQ(second.conflicts()[0].setting, std::string("jitProfiling"));
  CHECK_EQ(second.conflicts()[0].value, 0);
  CHECK_EQ(second.conflicts()[0].other_value, 1);
  CHECK_EQ(second.conflicts()[0].other_owner, std::string("a"));
}

TEST(process_settings, change_hands_between_models_that_disagree) {
  const SettingsClaim first(Wanting("a", true));
  auto second = std::make_unique<SettingsClaim>(Wanting("b", false));
  CHECK(!Profiling());
  first.Renew();
  CHECK(Profiling());
  second->Renew();
  CHECK(!Profiling());
  second.reset();
  CHECK(Profiling());
}

TEST(process_settings, take_the_inter_op_threads_once) {
  const SettingsClaim first({.owner = "a", .inter_op_threads = 2});
  CHECK(first.conflicts().empty());
  CHECK_EQ(CurrentProcessSettings().inter_op_threads, 2);
  const SettingsClaim same({.owner = "b", .inter_op_threads = 2});
  CHECK(same.conflicts().empty());
  const SettingsClaim other({.owner = "c", .inter_op_threads = 3});
  CHECK_EQ(other.conflicts().size(), size_t{1});
  CHECK_EQ(other.conflicts()[0].value, 3);
  CHECK_EQ(other.conflicts()[0].other_value, 2);
  CHECK_EQ(other.conflicts()[0].other_owner, std::string("a"));
  CHECK_EQ(CurrentProcessSettings().inter_op_threads, 2);
}

}  // namespace nereid
