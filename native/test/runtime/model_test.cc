#include "runtime/model.h"

#include <ATen/Parallel.h>
#include <torch/csrc/jit/api/module.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "check.h"
#include "runtime/build_info.h"
#include "runtime/package_directory.h"
#include "runtime/thread_scope.h"

namespace nereid {
namespace {

const std::vector<float> kOnes(4, 1.0f);

// A module with the given forward, saved to a file that goes away with this.
class SavedModule {
 public:
  explicit SavedModule(const std::string& source)
      : path_(std::filesystem::temp_directory_path() / ("nereid-test-" + std::to_string(::getpid()) + ".pt")) {
    torch::jit::Module module("module");
    module.define(source + "\n");
    module.save(path_.string());
  }
  ~SavedModule() { std::filesystem::remove(path_); }

  StatusOr<TorchScriptModel> Load() const { return LoadTorchScript({path_.string(), true, -1}); }

 private:
  std::filesystem::path path_;
};

RunPlan PlanOf(std::vector<OutputSlot> outputs) { return {{{DataType::kFp32, ""}}, std::move(outputs), {}, false}; }

Batch FourOnes() { return {{{reinterpret_cast<const uint8_t*>(kOnes.data()), 16}}, {1}, {1, 4}}; }

// Runs forward(x) on four ones and reports the status.
Status Run(const std::string& source, std::vector<OutputSlot> outputs, Outcome& outcome) {
  auto loaded = SavedModule(source).Load();
  if (!loaded.ok()) return loaded.status();
  const ThreadScope scope({}, -1);
  return loaded.value().model->Run(PlanOf(std::move(outputs)), FourOnes(), outcome);
}

float First(const Outcome& outcome, size_t output) {
  return reinterpret_cast<const float*>(outcome.BytesOf(outcome.outputs.at(output)))[0];
}

bool Contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Whether the process has a file with this in its name in memory.
bool IsMapped(const std::string& name) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (Contains(line, name)) return true;
  }
  return false;
}

}  // namespace

TEST(torchscript, hands_out_the_results_asked_for) {
  Outcome outcome;
  CHECK(Run("def forward(self, x):\n  return x + 1, x + 2, x + 3", {{2, ""}, {0, ""}}, outcome).ok());
  CHECK_EQ(First(outcome, 0), 4.0f);
  CHECK_EQ(First(outcome, 1), 2.0f);
}

TEST(torchscript, looks_results_up_by_key) {
  Outcome outcome;
  const std::string source = "def forward(self, x):\n  return {'a': x + 1, 'b': x + 2}";
  CHECK(Run(source, {{-1, "b"}}, outcome).ok());
  CHECK_EQ(First(outcome, 0), 3.0f);
  Outcome other;
  const Status status = Run(source, {{-1, "c"}}, other);
  CHECK_EQ(status.message(), std::string("forward returned no value under the key 'c'; it returned 'a', 'b'"));
}

TEST(torchscript, states_the_count_when_an_index_is_beyond_it) {
  Outcome outcome;
  const Status status = Run("def forward(self, x):\n  return x", {{1, ""}}, outcome);
  CHECK(status.code() == StatusCode::kInvalidArg);
  CHECK(Contains(status.message(), "The output at index 1 "));
  CHECK(Contains(status.message(), "This model has 1 outputs"));
}

TEST(torchscript, names_the_type_of_a_result_that_is_no_tensor) {
  Outcome outcome;
  const Status status = Run("def forward(self, x):\n  return x, [1, 2]", {{1, ""}}, outcome);
  CHECK(Contains(status.message(), "forward returned List[int] at index 1"));
}

TEST(torchscript, turns_an_exception_of_forward_into_a_status) {
  Outcome outcome;
  const Status status = Run("def forward(self, x):\n  assert x[0] < 0, 'not negative'\n  return x", {{0, ""}}, outcome);
  CHECK(status.code() == StatusCode::kInternal);
  CHECK(Contains(status.message(), "not negative"));
}

TEST(torchscript, does_not_hand_out_borrowed_bytes) {
  Outcome outcome;
  CHECK(Run("def forward(self, x):\n  return x.repeat([2000])[:4].contiguous(), x", {{1, ""}}, outcome).ok());
  CHECK(outcome.BytesOf(outcome.outputs.at(0)) != reinterpret_cast<const uint8_t*>(kOnes.data()));
}

TEST(torchscript, explains_a_file_that_is_none) {
  CHECK(LoadTorchScript({"/nonexistent/model.pt", true, -1}).status().code() == StatusCode::kNotFound);
  CHECK(LoadTorchScript({"/", true, -1}).status().code() == StatusCode::kInvalidArg);
  const auto path = std::filesystem::temp_directory_path() / ("nereid-test-" + std::to_string(::getpid()) + ".bad");
  std::ofstream(path) << "not an archive";
  CHECK(LoadTorchScript({path.string(), true, -1}).status().code() == StatusCode::kInternal);
  std::filesystem::remove(path);
}

TEST(torchscript, without_forward_is_refused) {
  CHECK(Contains(SavedModule("def other(self, x):\n  return x").Load().status().message(), "no method 'forward'"));
}

TEST(thread_scope, sets_the_threads_of_its_own_thread_only) {
  const int before = at::get_num_threads();
  int inside = 0;
  std::thread([&] {
    const ThreadScope scope({.intra_op_threads = 1}, -1);
    inside = at::get_num_threads();
  }).join();
  CHECK_EQ(inside, 1);
  CHECK_EQ(at::get_num_threads(), before);
  int fresh = 0;
  std::thread([&] {
    const ThreadScope scope({}, -1);
    fresh = at::get_num_threads();
  }).join();
  CHECK_EQ(fresh, before);
}

TEST(build_info, states_the_version) { CHECK(GetBuildInfo().torch_version.starts_with("2.")); }

TEST(aoti, runs_a_compiled_package) {
  const char* path = std::getenv("NEREID_TEST_AOTI");
  if (path == nullptr) {
    std::cout << "skip: NEREID_TEST_AOTI does not name the package native_aoti/mlp.pt2\n";
    return;
  }
  AotiOptions options;
  options.path = path;
  auto loaded = LoadAoti(options);
  CHECK_EQ(loaded.status().message(), std::string());
  CHECK_EQ(loaded.value().input_names.size(), size_t{1});
  CHECK_EQ(loaded.value().output_count, size_t{1});
  RunPlan plan = {{{DataType::kFp32, ""}}, {{0, ""}}, {}, true};
  CHECK(loaded.value().model->Check(plan).ok());
  const std::vector<float> zeros(128);
  Outcome outcome;
  std::thread([&] {
    const ThreadScope scope({.intra_op_threads = 1}, -1);
    const Batch batch = {{{reinterpret_cast<const uint8_t*>(zeros.data()), 512}}, {2}, {2, 1, 64}};
    CHECK(loaded.value().model->Run(plan, batch, outcome).ok());
  }).join();
  CHECK(outcome.outputs.at(0).shape == std::vector<int64_t>({2, 10}));
  plan.inputs.push_back({DataType::kFp32, ""});
  CHECK_EQ(loaded.value().model->Check(plan).message(),
           std::string("the compiled model takes 1 tensors, the instance gives it 2"));
  CHECK(IsMapped("nereid-package"));
  loaded.value().model.reset();
  CHECK(!IsMapped("nereid-package"));
}

TEST(aoti, leaves_files_that_are_no_libraries_alone) {
  const auto path = std::filesystem::temp_directory_path() / ("nereid-test-" + std::to_string(::getpid()) + ".so");
  for (const std::string& content : {std::string(),
                                     std::string("\x7f"
                                                 "ELF"),
                                     std::string(200, 'x')}) {
    std::ofstream(path) << content;
    CHECK_EQ(ClearUniqueSymbols(path), size_t{0});
    std::filesystem::remove(path);
  }
}

}  // namespace nereid
