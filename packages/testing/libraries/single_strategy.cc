// Every request is a batch of its own. Macros make it a library that is at
// fault: FAILS_TO_INITIALIZE, THROWS, IS_PARTIAL (one function is missing),
// FAILS_TO_START, FAILS_TO_INCLUDE, FAILS_TO_FINISH (a batch or the model).
#include <stdexcept>

#include "batching_api.h"

TRITONSERVER_Error *
TRITONBACKEND_ModelBatcherInitialize(TRITONBACKEND_Batcher **batcher,
                                     TRITONBACKEND_Model *) {
  *batcher = nullptr;
#if defined(FAILS_TO_INITIALIZE)
  return TRITONSERVER_ErrorNew(5, "this strategy knows no such model");
#elif defined(THROWS)
  throw std::runtime_error("thrown by the library");
#else
  return nullptr;
#endif
}

TRITONSERVER_Error *
TRITONBACKEND_ModelBatchInitialize(const TRITONBACKEND_Batcher *,
                                   void **has_request) {
#ifdef FAILS_TO_START
  return TRITONSERVER_ErrorNew(4, "no batch today");
#endif
  *has_request = new bool(false);
  return nullptr;
}

#ifndef IS_PARTIAL
TRITONSERVER_Error *
TRITONBACKEND_ModelBatchIncludeRequest(TRITONBACKEND_Request *,
                                       void *has_request, bool *includes) {
#ifdef FAILS_TO_INCLUDE
  *includes = true;
  return TRITONSERVER_ErrorNew(1, "cannot tell");
#endif
  *includes = !*static_cast<bool *>(has_request);
  *static_cast<bool *>(has_request) = true;
  return nullptr;
}
#endif

TRITONSERVER_Error *TRITONBACKEND_ModelBatchFinalize(void *has_request) {
  delete static_cast<bool *>(has_request);
#ifdef FAILS_TO_FINISH
  return TRITONSERVER_ErrorNew(1, "the batch does not end");
#endif
  return nullptr;
}

TRITONSERVER_Error *
TRITONBACKEND_ModelBatcherFinalize(TRITONBACKEND_Batcher *) {
#ifdef FAILS_TO_FINISH
  return TRITONSERVER_ErrorNew(1, "the strategy does not end");
#endif
  return nullptr;
}
