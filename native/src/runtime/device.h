// Everything that differs between devices. No other file of the runtime names CUDA.
#pragma once

#include <c10/core/Device.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/status.h"

namespace nereid {

// Whether this LibTorch can run models on GPUs.
bool HasCuda();

// `9.0` for each GPU that torch can use, by ordinal; empty on a build or machine without.
std::vector<std::string> ComputeCapabilities();

// −1: the CPU, otherwise the ordinal of a GPU. UNAVAILABLE if this build or machine has no such device.
StatusOr<c10::Device> DeviceFromOrdinal(int ordinal);

// Makes a device, and on a GPU a stream of its own, current for the calling thread until destroyed.
class DeviceScope {
 public:
  explicit DeviceScope(int ordinal);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;  // null on the CPU
};

// Waits for the work that the calling thread has queued on the device; nothing to do on the CPU. Throws what torch
// throws.
void Synchronize(c10::Device device);

// Gives memory that torch keeps for reuse back to the GPUs; there is none on the CPU.
void EmptyCache() noexcept;

// The thread's current stream on the device, as AOTInductor takes it; null on the CPU.
void* CurrentStream(c10::Device device);

}  // namespace nereid
