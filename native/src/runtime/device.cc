// The CUDA half is built against a CUDA LibTorch only (NEREID_CUDA, set by CMake). scripts/check-cuda.mjs compiles it; it
// has never been run.
#include "runtime/device.h"

#ifdef NEREID_CUDA
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace nereid {

#ifdef NEREID_CUDA

struct DeviceScope::Impl {
  explicit Impl(int ordinal)
      : guard(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, static_cast<c10::DeviceIndex>(ordinal))) {}
  c10::cuda::CUDAStreamGuard guard;
};

DeviceScope::DeviceScope(int ordinal) : impl_(ordinal < 0 ? nullptr : std::make_unique<Impl>(ordinal)) {}

bool HasCuda() { return c10::cuda::device_count() > 0; }

std::vector<std::string> ComputeCapabilities() {
  std::vector<std::string> capabilities;
  for (int gpu = 0; gpu < c10::cuda::device_count(); gpu++) {
    int major = 0;
    int minor = 0;
    C10_CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, gpu));
    C10_CUDA_CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, gpu));
    capabilities.push_back(std::to_string(major) + "." + std::to_string(minor));
  }
  return capabilities;
}

StatusOr<c10::Device> DeviceFromOrdinal(int ordinal) {
  if (ordinal < 0) return c10::Device(c10::kCPU);
  const int count = c10::cuda::device_count();
  if (ordinal >= count) {
    return Status::Unavailable("GPU " + std::to_string(ordinal) + " was asked for, this machine has " +
                               std::to_string(count));
  }
  return c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(ordinal));
}

void Synchronize(c10::Device device) {
  if (device.is_cuda()) c10::cuda::getCurrentCUDAStream(device.index()).synchronize();
}

void EmptyCache() noexcept {
  try {
    if (HasCuda()) c10::cuda::CUDACachingAllocator::emptyCache();
  } catch (const std::exception&) {
    // The device has failed, which the runs report.
  }
}

void* CurrentStream(c10::Device device) {
  return device.is_cuda() ? c10::cuda::getCurrentCUDAStream(device.index()).stream() : nullptr;
}

#else

struct DeviceScope::Impl {};

DeviceScope::DeviceScope(int /*ordinal*/) {}

bool HasCuda() { return false; }

std::vector<std::string> ComputeCapabilities() { return {}; }

StatusOr<c10::Device> DeviceFromOrdinal(int ordinal) {
  if (ordinal < 0) return c10::Device(c10::kCPU);
  return Status::Unavailable("GPU " + std::to_string(ordinal) +
                             " was asked for, this build uses a LibTorch without CUDA");
}

void Synchronize(c10::Device /*device*/) {}

void EmptyCache() noexcept {}

void* CurrentStream(c10::Device /*device*/) { return nullptr; }

#endif

DeviceScope::~DeviceScope() = default;

}  // namespace nereid
