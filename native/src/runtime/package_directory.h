// An AOTInductor package, unpacked.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace nereid {

// A temporary directory with the files of a package; removed with this.
//
// Torch would unpack a package itself, but then its libraries stay mapped after they were closed: g++ marks some
// symbols of C++ templates as unique in the process, and glibc never unmaps a library that defined one. Each reload
// of a model would keep its memory and its (deleted) file on disk. Here the mark is taken off before anything opens
// the libraries.
class PackageDirectory {
 public:
  // Throws what torch throws for a file that is no such archive, and std::filesystem_error, e.g. if the disk is full.
  explicit PackageDirectory(const std::string& package);
  ~PackageDirectory();
  PackageDirectory(const PackageDirectory&) = delete;
  PackageDirectory& operator=(const PackageDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const std::vector<std::filesystem::path>& libraries() const { return libraries_; }

 private:
  void Fill(const std::string& package);

  std::filesystem::path path_;
  std::vector<std::filesystem::path> libraries_;
};

// Keeps the libraries of a package open, those that are, until destroyed.
class OpenLibraries {
 public:
  explicit OpenLibraries(const PackageDirectory& directory);
  ~OpenLibraries();
  OpenLibraries(const OpenLibraries&) = delete;
  OpenLibraries& operator=(const OpenLibraries&) = delete;

 private:
  std::vector<void*> handles_;
};

// Makes the unique symbols of a shared library ordinary ones. Returns how many; 0 for anything that is no 64-bit ELF
// file of this machine's byte order.
size_t ClearUniqueSymbols(const std::filesystem::path& library);

}  // namespace nereid
