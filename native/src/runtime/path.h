#pragma once

#include <string>

#include "runtime/status.h"

namespace nereid {

// NOT_FOUND if there is nothing at `path`, INVALID_ARG if it is no file, UNAVAILABLE if it may not be read. Torch's
// own words for these mislead.
Status CheckReadable(const std::string& path);

}  // namespace nereid
