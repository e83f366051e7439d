/*
 * Item embeddings outside of a model package: operators that read tables which lie beside it.
 *
 * A table is `<version directory>/tables/<name>.npy`, FP32 [items, width] as numpy.save writes it; row 0 stands for "no
 * item". The server calls triton_pytorch_model_init with the version directory before it opens the package, and
 * triton_pytorch_model_fini after it freed it. Tables are mapped, not read: pages come in when rows are looked up, and
 * are shared by all processes that serve the same file.
 *
 * A package finds its table by name. The newest table of a name answers, so that a version with fresh rows can be
 * loaded while the old one still serves. Another model may use the same name only for the same file.
 */
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/topk.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <torch/library.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Table {
  std::string name;
  fs::path file;
  at::Tensor rows;  // keeps the file mapped
};

struct Registry {
  std::mutex mutex;
  std::list<Table> tables;  // guarded by mutex; newest first
};

Registry& TheRegistry() {
  static auto* registry = new Registry;  // never destroyed: a request may still look rows up while the process ends
  return *registry;
}

// Header of version 1: magic, two bytes of version, two of the header's length, then the header, padded so that the
// data is aligned.
std::tuple<int64_t, int64_t, size_t> ParseHeader(const fs::path& file, const char* bytes, size_t size) {
  constexpr size_t kPrefix = 10;
  TORCH_CHECK(size > kPrefix && std::memcmp(bytes, "\x93NUMPY\x01", 7) == 0, file, " is no .npy file of version 1");
  const size_t data = kPrefix + static_cast<unsigned char>(bytes[8]) + 256 * static_cast<unsigned char>(bytes[9]);
  TORCH_CHECK(data <= size, file, " ends within its header");
  const std::string header(bytes + kPrefix, data - kPrefix);
  long long items = 0;
  long long width = 0;
  const int found =
      std::sscanf(header.c_str(), "{'descr': '<f4', 'fortran_order': False, 'shape': (%lld, %lld)", &items, &width);
  TORCH_CHECK(found == 2 && items > 0 && width > 0, file, " holds ", header,
              "; expected <f4 in C order of shape (items, width)");
  TORCH_CHECK(static_cast<size_t>(items) <= (size - data) / sizeof(float) / static_cast<size_t>(width), file,
              " is shorter than its shape says");
  return {items, width, data};
}

at::Tensor MapRows(const fs::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  TORCH_CHECK(descriptor >= 0, file, " cannot be opened: ", std::strerror(errno));
  const size_t size = fs::file_size(file);
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  ::close(descriptor);
  TORCH_CHECK(address != MAP_FAILED, file, " cannot be mapped: ", std::strerror(errno));
  const std::shared_ptr<void> mapping(address, [size](void* start) { ::munmap(start, size); });
  auto* bytes = static_cast<char*>(address);
  const auto [items, width, data] = ParseHeader(file, bytes, size);
  return at::from_blob(bytes + data, {items, width}, [mapping](void*) {}, at::kFloat);
}

// Model directories hold version directories, which hold `tables`.
fs::path ModelOf(const fs::path& file) { return file.parent_path().parent_path().parent_path(); }

void CheckOwner(const Registry& registry, const Table& added) {
  for (const Table& table : registry.tables) {
    const bool foreign = table.name == added.name && ModelOf(table.file) != ModelOf(added.file);
    TORCH_CHECK(!foreign || fs::equivalent(table.file, added.file), "table '", added.name, "' of ", added.file,
                " has the name of another model's: ", table.file,
                ". Name it otherwise and export the package with that name");
  }
}

at::Tensor FindRows(const std::string& name) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  for (const Table& table : registry.tables) {
    if (table.name == name) return table.rows;
  }
  TORCH_CHECK(false, "no table '", name, "' is loaded: its model directory lacks tables/", name,
              ".npy, or its configuration MODEL_INIT_LIBRARY");
}

// What `lookup` returns: rows FP32 [..., width], and which of the ids are items of the table. The others get row 0: a
// stray id spoils its own request only, not those it shares a batch with.
std::tuple<at::Tensor, at::Tensor> Lookup(const at::Tensor& ids, const std::string& name, int64_t width) {
  const at::Tensor table = FindRows(name);
  TORCH_CHECK(table.size(1) == width, "table '", name, "' is ", table.size(1), " wide, the package was exported for ",
              width);
  const at::Tensor dense = ids.contiguous();
  std::vector<int64_t> shape = dense.sizes().vec();
  at::Tensor known = at::empty(shape, at::kBool);
  shape.push_back(width);
  at::Tensor rows = at::empty(shape, at::kFloat);
  const float* source = table.const_data_ptr<float>();
  const int64_t* id = dense.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < dense.numel(); ++i) {
    const bool is_known = id[i] > 0 && id[i] < table.size(0);
    known.mutable_data_ptr<bool>()[i] = is_known;
    std::copy_n(source + (is_known ? id[i] : 0) * width, width, rows.mutable_data_ptr<float>() + i * width);
  }
  return {rows, known};
}

// What `top` returns: for queries FP32 [batch, width], scores FP32 and ids INT64 [batch, count] of the best items that
// are not in seen INT64 [batch, length].
std::tuple<at::Tensor, at::Tensor> Top(const at::Tensor& queries, const at::Tensor& seen, const std::string& name,
                                       int64_t count) {
  const at::Tensor table = FindRows(name);
  TORCH_CHECK(count < table.size(0), "table '", name, "' has ", table.size(0) - 1, " items, too few for the best ",
              count);
  TORCH_CHECK(seen.dim() == 2 && seen.size(0) == queries.size(0), "a row of seen items is expected for each query");
  at::Tensor scores = at::matmul(queries, table.t());
  const at::Tensor dense = seen.contiguous();
  const int64_t* id = dense.const_data_ptr<int64_t>();
  auto* score = scores.mutable_data_ptr<float>();
  for (int64_t row = 0; row < scores.size(0); ++row, score += table.size(0)) {
    score[0] = -std::numeric_limits<float>::infinity();
    for (int64_t i = 0; i < dense.size(1); ++i, ++id) {
      if (*id > 0 && *id < table.size(0)) score[*id] = score[0];
    }
  }
  return at::topk(scores, count);
}

}  // namespace

TORCH_LIBRARY(item_tables, library) {
  library.def("lookup(Tensor ids, str table, int width) -> (Tensor rows, Tensor known)");
  library.def("top(Tensor queries, Tensor seen, str table, int count) -> (Tensor scores, Tensor ids)");
}

TORCH_LIBRARY_IMPL(item_tables, CPU, library) {
  library.impl("lookup", Lookup);
  library.impl("top", Top);
}

// What a model added to the registry.
using Added = std::vector<std::list<Table>::iterator>;

extern "C" void* triton_pytorch_model_init(const char* version_directory, int) {
  std::list<Table> tables;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(version_directory) / "tables")) {
    const fs::path& file = entry.path();
    if (file.extension() == ".npy") tables.push_back({file.stem(), file, MapRows(file)});
  }
  auto added = std::make_unique<Added>();
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  for (auto table = tables.begin(); table != tables.end(); ++table) {
    CheckOwner(registry, *table);
    added->push_back(table);
  }
  registry.tables.splice(registry.tables.begin(), tables);
  return added.release();
}

extern "C" void triton_pytorch_model_fini(void* state) {
  const std::unique_ptr<Added> added(static_cast<Added*>(state));
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  for (const auto& table : *added) registry.tables.erase(table);
}
