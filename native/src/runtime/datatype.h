// Numbers of the datatypes as they cross the binding: enum DataType of the model configuration.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nereid {

enum class DataType : uint8_t {
  kNone = 0,  // a torch dtype that the configuration has no name for (complex, quantized, 8-bit float)
  kBool,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFp16,
  kFp32,
  kFp64,
  kString,
  kBf16,
};

inline constexpr size_t kDataTypeCount = static_cast<size_t>(DataType::kBf16) + 1;

struct DataTypeInfo {
  DataType datatype;
  const char* name;
  size_t element_size;  // bytes; 0 where elements have no fixed size
};

inline constexpr std::array<DataTypeInfo, kDataTypeCount> kDataTypes = {{
    {DataType::kNone, "TYPE_INVALID", 0},
    {DataType::kBool, "TYPE_BOOL", 1},
    {DataType::kUint8, "TYPE_UINT8", 1},
    {DataType::kUint16, "TYPE_UINT16", 2},
    {DataType::kUint32, "TYPE_UINT32", 4},
    {DataType::kUint64, "TYPE_UINT64", 8},
    {DataType::kInt8, "TYPE_INT8", 1},
    {DataType::kInt16, "TYPE_INT16", 2},
    {DataType::kInt32, "TYPE_INT32", 4},
    {DataType::kInt64, "TYPE_INT64", 8},
    {DataType::kFp16, "TYPE_FP16", 2},
    {DataType::kFp32, "TYPE_FP32", 4},
    {DataType::kFp64, "TYPE_FP64", 8},
    {DataType::kString, "TYPE_STRING", 0},
    {DataType::kBf16, "TYPE_BF16", 2},
}};

namespace internal {
constexpr bool InOrder() {
  for (size_t i = 0; i < kDataTypes.size(); i++) {
    if (static_cast<size_t>(kDataTypes[i].datatype) != i) return false;
  }
  return true;
}
}  // namespace internal

static_assert(internal::InOrder(), "kDataTypes is indexed by the number of the datatype");

constexpr const DataTypeInfo& InfoOf(DataType datatype) { return kDataTypes[static_cast<size_t>(datatype)]; }

}  // namespace nereid
