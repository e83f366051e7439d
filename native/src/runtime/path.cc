#include "runtime/path.h"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace nereid {

Status CheckReadable(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return Status::NotFound("no such file: " + path);
  if (status.type() == std::filesystem::file_type::directory)
    return Status::InvalidArg("a directory, not a model file: " + path);
  if (!std::ifstream(path, std::ios::binary))
    return Status::Unavailable("the file cannot be read, check its permissions: " + path);
  return Status();
}

}  // namespace nereid
