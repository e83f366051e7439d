#include "runtime/package_directory.h"

#include <caffe2/serialize/inline_container.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace nereid {
namespace {

[[noreturn]] void ThrowErrno(const char* what, const std::filesystem::path& path, int error) {
  throw std::filesystem::filesystem_error(what, path, std::error_code(error, std::generic_category()));
}

// A file in memory, written back when destroyed.
class MappedFile {
 public:
  // The whole of an existing file, or a new one of `size` bytes, whose blocks are on disk before anything is written
  // to it.
  explicit MappedFile(const std::filesystem::path& path, size_t new_size = 0) {
    const bool create = new_size > 0;
    const int file = ::open(path.c_str(), create ? O_RDWR | O_CREAT | O_EXCL : O_RDWR, S_IRUSR | S_IWUSR);
    if (file < 0) ThrowErrno("cannot open", path, errno);
    const int error = create ? ::posix_fallocate(file, 0, static_cast<off_t>(new_size)) : 0;
    struct stat status = {};
    if (error == 0 && ::fstat(file, &status) == 0 && status.st_size > 0) {
      size_ = static_cast<size_t>(status.st_size);
      data_ = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    ::close(file);
    if (error != 0) ThrowErrno("cannot make room for", path, error);
    if (data_ == MAP_FAILED) ThrowErrno("cannot map", path, errno);
  }
  ~MappedFile() {
    if (data_ != nullptr) ::munmap(data_, size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  void* data() const { return data_; }
  size_t size() const { return size_; }

  // `count` values at a byte offset; null if they do not lie within the file.
  template <typename T>
  T* At(size_t offset, size_t count = 1) const {
    if (offset > size_ || offset % alignof(T) != 0 || (size_ - offset) / sizeof(T) < count) return nullptr;
    return reinterpret_cast<T*>(static_cast<char*>(data_) + offset);
  }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

void Unpack(caffe2::serialize::PyTorchStreamReader& archive, const std::string& record,
            const std::filesystem::path& target) {
  std::filesystem::create_directories(target.parent_path());
  const size_t size = archive.getRecordSize(record);
  if (size == 0) {
    const int file = ::open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
    if (file < 0) ThrowErrno("cannot open", target, errno);
    ::close(file);
    return;
  }
  const MappedFile file(target, size);
  archive.getRecord(record, file.data(), size);
}

bool LeavesDirectory(const std::filesystem::path& record) {
  if (record.is_absolute()) return true;
  for (const auto& part : record) {
    if (part == "..") return true;
  }
  return false;
}

std::filesystem::path MakeTemporaryDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "nereid-package-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) ThrowErrno("cannot make", pattern, errno);
  return pattern;
}

}  // namespace

PackageDirectory::PackageDirectory(const std::string& package) : path_(MakeTemporaryDirectory()) {
  try {
    Fill(package);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    throw;
  }
}

PackageDirectory::~PackageDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void PackageDirectory::Fill(const std::string& package) {
  caffe2::serialize::PyTorchStreamReader archive(package);
  for (const std::string& record : archive.getAllRecords()) {
    TORCH_CHECK(!LeavesDirectory(record), "the archive names a file outside of itself: ", record);
    const std::filesystem::path target = path_ / record;
    Unpack(archive, record, target);
    if (target.extension() != ".so") continue;
    ClearUniqueSymbols(target);
    libraries_.push_back(target);
  }
}

OpenLibraries::OpenLibraries(const PackageDirectory& directory) {
  for (const std::filesystem::path& library : directory.libraries()) {
    void* handle = ::dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (handle != nullptr) handles_.push_back(handle);
  }
}

OpenLibraries::~OpenLibraries() {
  for (void* handle : handles_) ::dlclose(handle);
}

size_t ClearUniqueSymbols(const std::filesystem::path& library) {
  const MappedFile file(library);
  const auto* header = file.At<Elf64_Ehdr>(0);
  if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return 0;
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB) return 0;
  const auto* sections = file.At<Elf64_Shdr>(header->e_shoff, header->e_shnum);
  if (sections == nullptr) return 0;
  size_t cleared = 0;
  for (size_t i = 0; i < header->e_shnum; i++) {
    if (sections[i].sh_type != SHT_DYNSYM) continue;
    const size_t count = sections[i].sh_size / sizeof(Elf64_Sym);
    auto* symbols = file.At<Elf64_Sym>(sections[i].sh_offset, count);
    for (size_t s = 0; symbols != nullptr && s < count; s++) {
      if (ELF64_ST_BIND(symbols[s].st_info) != STB_GNU_UNIQUE) continue;
      symbols[s].st_info = ELF64_ST_INFO(STB_GLOBAL, ELF64_ST_TYPE(symbols[s].st_info));
      cleared++;
    }
  }
  return cleared;
}

}  // namespace nereid
