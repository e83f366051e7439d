/*
 * What libraries with a batching strategy see of Triton's C interface, as far as those here need it. It is kept apart from what native/ implements, so that
 * tests show that the two fit each other in names, arguments and numbers.
 */
#ifndef BATCHING_API_H
#define BATCHING_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TRITONSERVER_Error TRITONSERVER_Error;
typedef struct TRITONSERVER_Message TRITONSERVER_Message;
typedef struct TRITONBACKEND_Batcher TRITONBACKEND_Batcher;
typedef struct TRITONBACKEND_Input TRITONBACKEND_Input;
typedef struct TRITONBACKEND_Model TRITONBACKEND_Model;
typedef struct TRITONBACKEND_Request TRITONBACKEND_Request;

/* Enumerations, by their numbers. */
typedef int ErrorCode;
typedef int DataType;
typedef int MemoryType;
typedef int LogLevel;
typedef int ParameterType;
typedef int ArtifactType;

TRITONSERVER_Error* TRITONSERVER_ApiVersion(uint32_t*, uint32_t*);
TRITONSERVER_Error* TRITONSERVER_ErrorNew(ErrorCode, const char*);
void TRITONSERVER_ErrorDelete(TRITONSERVER_Error*);
ErrorCode TRITONSERVER_ErrorCode(TRITONSERVER_Error*);
const char* TRITONSERVER_ErrorCodeString(TRITONSERVER_Error*);
const char* TRITONSERVER_ErrorMessage(TRITONSERVER_Error*);
TRITONSERVER_Error* TRITONSERVER_MessageNewFromSerializedJson(TRITONSERVER_Message**, const char*, size_t);
TRITONSERVER_Error* TRITONSERVER_MessageDelete(TRITONSERVER_Message*);
TRITONSERVER_Error* TRITONSERVER_MessageSerializeToJson(TRITONSERVER_Message*, const char**, size_t*);
bool TRITONSERVER_LogIsEnabled(LogLevel);
TRITONSERVER_Error* TRITONSERVER_LogMessage(LogLevel, const char*, int, const char*);
const char* TRITONSERVER_DataTypeString(DataType);
DataType TRITONSERVER_StringToDataType(const char*);
uint32_t TRITONSERVER_DataTypeByteSize(DataType);
const char* TRITONSERVER_MemoryTypeString(MemoryType);

TRITONSERVER_Error* TRITONBACKEND_ApiVersion(uint32_t*, uint32_t*);
TRITONSERVER_Error* TRITONBACKEND_ModelName(TRITONBACKEND_Model*, const char**);
TRITONSERVER_Error* TRITONBACKEND_ModelVersion(TRITONBACKEND_Model*, uint64_t*);
TRITONSERVER_Error* TRITONBACKEND_ModelRepository(TRITONBACKEND_Model*, ArtifactType*, const char**);
TRITONSERVER_Error* TRITONBACKEND_ModelConfig(TRITONBACKEND_Model*, uint32_t, TRITONSERVER_Message**);
TRITONSERVER_Error* TRITONBACKEND_RequestId(TRITONBACKEND_Request*, const char**);
TRITONSERVER_Error* TRITONBACKEND_RequestCorrelationId(TRITONBACKEND_Request*, uint64_t*);
TRITONSERVER_Error* TRITONBACKEND_RequestCorrelationIdString(TRITONBACKEND_Request*, const char**);
TRITONSERVER_Error* TRITONBACKEND_RequestFlags(TRITONBACKEND_Request*, uint32_t*);
TRITONSERVER_Error* TRITONBACKEND_RequestIsCancelled(TRITONBACKEND_Request*, bool*);
TRITONSERVER_Error* TRITONBACKEND_RequestInputCount(TRITONBACKEND_Request*, uint32_t*);
TRITONSERVER_Error* TRITONBACKEND_RequestInputName(TRITONBACKEND_Request*, uint32_t, const char**);
TRITONSERVER_Error* TRITONBACKEND_RequestInput(TRITONBACKEND_Request*, const char*, TRITONBACKEND_Input**);
TRITONSERVER_Error* TRITONBACKEND_RequestInputByIndex(TRITONBACKEND_Request*, uint32_t, TRITONBACKEND_Input**);
TRITONSERVER_Error* TRITONBACKEND_RequestOutputCount(TRITONBACKEND_Request*, uint32_t*);
TRITONSERVER_Error* TRITONBACKEND_RequestOutputName(TRITONBACKEND_Request*, uint32_t, const char**);
TRITONSERVER_Error* TRITONBACKEND_RequestParameterCount(TRITONBACKEND_Request*, uint32_t*);
TRITONSERVER_Error* TRITONBACKEND_RequestParameter(TRITONBACKEND_Request*, uint32_t, const char**, ParameterType*,
                                                   const void**);
TRITONSERVER_Error* TRITONBACKEND_InputProperties(TRITONBACKEND_Input*, const char**, DataType*, const int64_t**,
                                                  uint32_t*, uint64_t*, uint32_t*);
TRITONSERVER_Error* TRITONBACKEND_InputPropertiesForHostPolicy(TRITONBACKEND_Input*, const char*, const char**,
                                                               DataType*, const int64_t**, uint32_t*, uint64_t*,
                                                               uint32_t*);
TRITONSERVER_Error* TRITONBACKEND_InputBuffer(TRITONBACKEND_Input*, uint32_t, const void**, uint64_t*, MemoryType*,
                                              int64_t*);
TRITONSERVER_Error* TRITONBACKEND_InputBufferForHostPolicy(TRITONBACKEND_Input*, const char*, uint32_t, const void**,
                                                           uint64_t*, MemoryType*, int64_t*);

/* The five that a library defines. */
TRITONSERVER_Error* TRITONBACKEND_ModelBatcherInitialize(TRITONBACKEND_Batcher**, TRITONBACKEND_Model*);
TRITONSERVER_Error* TRITONBACKEND_ModelBatcherFinalize(TRITONBACKEND_Batcher*);
TRITONSERVER_Error* TRITONBACKEND_ModelBatchInitialize(const TRITONBACKEND_Batcher*, void**);
TRITONSERVER_Error* TRITONBACKEND_ModelBatchIncludeRequest(TRITONBACKEND_Request*, void*, bool*);
TRITONSERVER_Error* TRITONBACKEND_ModelBatchFinalize(void*);

#ifdef __cplusplus
}
#endif

#endif
