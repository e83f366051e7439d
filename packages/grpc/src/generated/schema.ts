// Generated from proto/ by scripts/generate.mjs; edit that and run `pnpm generate`.
export const SCHEMA = {
  nested: {
    inference: {
      nested: {
        GRPCInferenceService: {
          methods: {
            ServerLive: {
              requestType: 'ServerLiveRequest',
              responseType: 'ServerLiveResponse',
            },
            ServerReady: {
              requestType: 'ServerReadyRequest',
              responseType: 'ServerReadyResponse',
            },
            ModelReady: {
              requestType: 'ModelReadyRequest',
              responseType: 'ModelReadyResponse',
            },
            ServerMetadata: {
              requestType: 'ServerMetadataRequest',
              responseType: 'ServerMetadataResponse',
            },
            ModelMetadata: {
              requestType: 'ModelMetadataRequest',
              responseType: 'ModelMetadataResponse',
            },
            ModelInfer: {
              requestType: 'ModelInferRequest',
              responseType: 'ModelInferResponse',
            },
            ModelStreamInfer: {
              requestType: 'ModelInferRequest',
              requestStream: true,
              responseType: 'ModelStreamInferResponse',
              responseStream: true,
            },
            ModelConfig: {
              requestType: 'ModelConfigRequest',
              responseType: 'ModelConfigResponse',
            },
            ModelStatistics: {
              requestType: 'ModelStatisticsRequest',
              responseType: 'ModelStatisticsResponse',
            },
            RepositoryIndex: {
              requestType: 'RepositoryIndexRequest',
              responseType: 'RepositoryIndexResponse',
            },
            RepositoryModelLoad: {
              requestType: 'RepositoryModelLoadRequest',
              responseType: 'RepositoryModelLoadResponse',
            },
            RepositoryModelUnload: {
              requestType: 'RepositoryModelUnloadRequest',
              responseType: 'RepositoryModelUnloadResponse',
            },
            SystemSharedMemoryStatus: {
              requestType: 'SystemSharedMemoryStatusRequest',
              responseType: 'SystemSharedMemoryStatusResponse',
            },
            SystemSharedMemoryRegister: {
              requestType: 'SystemSharedMemoryRegisterRequest',
              responseType: 'SystemSharedMemoryRegisterResponse',
            },
            SystemSharedMemoryUnregister: {
              requestType: 'SystemSharedMemoryUnregisterRequest',
              responseType: 'SystemSharedMemoryUnregisterResponse',
            },
            CudaSharedMemoryStatus: {
              requestType: 'CudaSharedMemoryStatusRequest',
              responseType: 'CudaSharedMemoryStatusResponse',
            },
            CudaSharedMemoryRegister: {
              requestType: 'CudaSharedMemoryRegisterRequest',
              responseType: 'CudaSharedMemoryRegisterResponse',
            },
            CudaSharedMemoryUnregister: {
              requestType: 'CudaSharedMemoryUnregisterRequest',
              responseType: 'CudaSharedMemoryUnregisterResponse',
            },
            TraceSetting: {
              requestType: 'TraceSettingRequest',
              responseType: 'TraceSettingResponse',
            },
            LogSettings: {
              requestType: 'LogSettingsRequest',
              responseType: 'LogSettingsResponse',
            },
          },
        },
        ServerLiveRequest: {
          fields: {},
        },
        ServerLiveResponse: {
          fields: {
            live: {
              type: 'bool',
              id: 1,
            },
          },
        },
        ServerReadyRequest: {
          fields: {},
        },
        ServerReadyResponse: {
          fields: {
            ready: {
              type: 'bool',
              id: 1,
            },
          },
        },
        ModelReadyRequest: {
          fields: {
            name: {
              type: 'string',
              id: 1,
            },
            version: {
              type: 'string',
              id: 2,
            },
          },
        },
        ModelReadyResponse: {
          fields: {
            ready: {
              type: 'bool',
              id: 1,
            },
          },
        },
        ServerMetadataRequest: {
          fields: {},
        },
        ServerMetadataResponse: {
          fields: {
            name: {
              type: 'string',
              id: 1,
            },
            version: {
              type: 'string',
              id: 2,
            },
            extensions: {
              rule: 'repeated',
              type: 'string',
              id: 3,
            },
          },
        },
        ModelMetadataRequest: {
          fields: {
            name: {
              type: 'string',
              id: 1,
            },
            version: {
              type: 'string',
              id: 2,
            },
          },
        },
        ModelMetadataResponse: {
          fields: {
            name: {
              type: 'string',
              id: 1,
            },
            versions: {
              rule: 'repeated',
              type: 'string',
              id: 2,
            },
            platform: {
              type: 'string',
              id: 3,
            },
            inputs: {
              rule: 'repeated',
              type: 'TensorMetadata',
              id: 4,
            },
            outputs: {
              rule: 'repeated',
              type: 'TensorMetadata',
              id: 5,
            },
          },
          nested: {
            TensorMetadata: {
              fields: {
                name: {
                  type: 'string',
                  id: 1,
                },
                datatype: {
                  type: 'string',
                  id: 2,
                },
                shape: {
                  rule: 'repeated',
                  type: 'int64',
                  id: 3,
                },
              },
            },
          },
        },
        InferParameter: {
          oneofs: {
            parameterChoice: {
              oneof: ['boolParam', 'int64Param', 'stringParam', 'doubleParam', 'uint64Param'],
            },
          },
          fields: {
            boolParam: {
              type: 'bool',
              id: 1,
              protoName: 'bool_param',
            },
            int64Param: {
              type: 'int64',
              id: 2,
              protoName: 'int64_param',
            },
            stringParam: {
              type: 'string',
              id: 3,
              protoName: 'string_param',
            },
            doubleParam: {
              type: 'double',
              id: 4,
              protoName: 'double_param',
            },
            uint64Param: {
              type: 'uint64',
              id: 5,
              protoName: 'uint64_param',
            },
          },
        },
        InferTensorContents: {
          fields: {
            boolContents: {
              rule: 'repeated',
              type: 'bool',
              id: 1,
              protoName: 'bool_contents',
            },
            intContents: {
              rule: 'repeated',
              type: 'int32',
              id: 2,
              protoName: 'int_contents',
            },
            int64Contents: {
              rule: 'repeated',
              type: 'int64',
              id: 3,
              protoName: 'int64_contents',
            },
            uintContents: {
              rule: 'repeated',
              type: 'uint32',
              id: 4,
              protoName: 'uint_contents',
            },
            uint64Contents: {
              rule: 'repeated',
              type: 'uint64',
              id: 5,
              protoName: 'uint64_contents',
            },
            fp32Contents: {
              rule: 'repeated',
              type: 'float',
              id: 6,
              protoName: 'fp32_contents',
            },
            fp64Contents: {
              rule: 'repeated',
              type: 'double',
              id: 7,
              protoName: 'fp64_contents',
            },
            bytesContents: {
              rule: 'repeated',
              type: 'bytes',
              id: 8,
              protoName: 'bytes_contents',
            },
          },
        },
        ModelInferRequest: {
          fields: {
            modelName: {
              type: 'string',
              id: 1,
              protoName: 'model_name',
            },
            modelVersion: {
              type: 'string',
              id: 2,
              protoName: 'model_version',
            },
            id: {
              type: 'string',
              id: 3,
            },
            parameters: {
              keyType: 'string',
              type: 'InferParameter',
              id: 4,
            },
            inputs: {
              rule: 'repeated',
              type: 'InferInputTensor',
              id: 5,
            },
            outputs: {
              rule: 'repeated',
              type: 'InferRequestedOutputTensor',
              id: 6,
            },
            rawInputContents: {
              rule: 'repeated',
              type: 'bytes',
              id: 7,
              protoName: 'raw_input_contents',
            },
          },
          nested: {
            InferInputTensor: {
              fields: {
                name: {
                  type: 'string',
                  id: 1,
                },
                datatype: {
                  type: 'string',
                  id: 2,
                },
                shape: {
                  rule: 'repeated',
                  type: 'int64',
                  id: 3,
                },
                parameters: {
                  keyType: 'string',
                  type: 'InferParameter',
                  id: 4,
                },
                contents: {
                  type: 'InferTensorContents',
                  id: 5,
                },
              },
            },
            InferRequestedOutputTensor: {
              fields: {
                name: {
                  type: 'string',
                  id: 1,
                },
                parameters: {
                  keyType: 'string',
                  type: 'InferParameter',
                  id: 2,
                },
              },
            },
          },
        },
        ModelInferResponse: {
          fields: {
            modelName: {
              type: 'string',
              id: 1,
              protoName: 'model_name',
            },
            modelVersion: {
              type: 'string',
              id: 2,
              protoName: 'model_version',
            },
            id: {
              type: 'string',
              id: 3,
            },
            parameters: {
              keyType: 'string',
              type: 'InferParameter',
              id: 4,
            },
            outputs: {
              rule: 'repeated',
              type: 'InferOutputTensor',
              id: 5,
            },
            rawOutputContents: {
              rule: 'repeated',
              type: 'bytes',
              id: 6,
              protoName: 'raw_output_contents',
            },
          },
          nested: {
            InferOutputTensor: {
              fields: {
                name: {
                  type: 'string',
                  id: 1,
                },
                datatype: {
                  type: 'string',
                  id: 2,
                },
                shape: {
                  rule: 'repeated',
                  type: 'int64',
                  id: 3,
                },
                parameters: {
                  keyType: 'string',
                  type: 'InferParameter',
                  id: 4,
                },
                contents: {
                  type: 'InferTensorContents',
                  id: 5,
                },
              },
            },
          },
        },
        ModelStreamInferResponse: {
          fields: {
            errorMessage: {
              type: 'string',
              id: 1,
              protoName: 'error_message',
            },
            inferResponse: {
              type: 'ModelInferResponse',
              id: 2,
              protoName: 'infer_response',
            },
          },
        },
        ModelConfigRequest: {
          fields: {
            name: {
              type: 'string',
              id: 1,
            },
            version: {
              type: 'string',
              id: 2,
            },
          },
        },
        ModelConfigResponse: {
          fields: {
            config: {
              type: 'bytes',
              id: 1,
            },
          },
        },
        ModelStatisticsRequest: {
          fields: {
            name: {
              type: 'string',
              id: 1,
            },
            version: {
              type: 'string',
              id: 2,
            },
          },
        },
        StatisticDuration: {
          fields: {
            count: {
              type: 'uint64',
              id: 1,
            },
            ns: {
              type: 'uint64',
              id: 2,
            },
          },
        },
        InferStatistics: {
          fields: {
            success: {
              type: 'StatisticDuration',
              id: 1,
            },
            fail: {
              type: 'StatisticDuration',
              id: 2,
            },
            queue: {
              type: 'StatisticDuration',
              id: 3,
            },
            computeInput: {
              type: 'StatisticDuration',
              id: 4,
              protoName: 'compute_input',
            },
            computeInfer: {
              type: 'StatisticDuration',
              id: 5,
              protoName: 'compute_infer',
            },
            computeOutput: {
              type: 'StatisticDuration',
              id: 6,
              protoName: 'compute_output',
            },
            cacheHit: {
              type: 'StatisticDuration',
              id: 7,
              protoName: 'cache_hit',
            },
            cacheMiss: {
              type: 'StatisticDuration',
              id: 8,
              protoName: 'cache_miss',
            },
          },
        },
        InferResponseStatistics: {
          fields: {
            computeInfer: {
              type: 'StatisticDuration',
              id: 1,
              protoName: 'compute_infer',
            },
            computeOutput: {
              type: 'StatisticDuration',
              id: 2,
              protoName: 'compute_output',
            },
            success: {
              type: 'StatisticDuration',
              id: 3,
            },
            fail: {
              type: 'StatisticDuration',
              id: 4,
            },
            emptyResponse: {
              type: 'StatisticDuration',
              id: 5,
              protoName: 'empty_response',
            },
            cancel: {
              type: 'StatisticDuration',
              id: 6,
            },
          },
        },
        InferBatchStatistics: {
          fields: {
            batchSize: {
              type: 'uint64',
              id: 1,
              protoName: 'batch_size',
            },
            computeInput: {
              type: 'StatisticDuration',
              id: 2,
              protoName: 'compute_input',
            },
            computeInfer: {
              type: 'StatisticDuration',
              id: 3,
              protoName: 'compute_infer',
            },
            computeOutput: {
              type: 'StatisticDuration',
              id: 4,
              protoName: 'compute_output',
            },
          },
        },
        MemoryUsage: {
          fields: {
            type: {
              type: 'string',
              id: 1,
            },
            id: {
              type: 'int64',
              id: 2,
            },
            byteSize: {
              type: 'uint64',
              id: 3,
              protoName: 'byte_size',
            },
          },
        },
        ModelStatistics: {
          fields: {
            name: {
              type: 'string',
              id: 1,
            },
            version: {
              type: 'string',
              id: 2,
            },
            lastInference: {
              type: 'uint64',
              id: 3,
              protoName: 'last_inference',
            },
            inferenceCount: {
              type: 'uint64',
              id: 4,
              protoName: 'inference_count',
            },
            executionCount: {
              type: 'uint64',
              id: 5,
              protoName: 'execution_count',
            },
            inferenceStats: {
              type: 'InferStatistics',
              id: 6,
              protoName: 'inference_stats',
            },
            batchStats: {
              rule: 'repeated',
              type: 'InferBatchStatistics',
              id: 7,
              protoName: 'batch_stats',
            },
            memoryUsage: {
              rule: 'repeated',
              type: 'MemoryUsage',
              id: 8,
              protoName: 'memory_usage',
            },
            responseStats: {
              keyType: 'string',
              type: 'InferResponseStatistics',
              id: 9,
              protoName: 'response_stats',
            },
          },
        },
        ModelStatisticsResponse: {
          fields: {
            modelStats: {
              rule: 'repeated',
              type: 'ModelStatistics',
              id: 1,
              protoName: 'model_stats',
            },
          },
        },
        ModelRepositoryParameter: {
          oneofs: {
            parameterChoice: {
              oneof: ['boolParam', 'int64Param', 'stringParam', 'bytesParam'],
            },
          },
          fields: {
            boolParam: {
              type: 'bool',
              id: 1,
              protoName: 'bool_param',
            },
            int64Param: {
              type: 'int64',
              id: 2,
              protoName: 'int64_param',
            },
            stringParam: {
              type: 'string',
              id: 3,
              protoName: 'string_param',
            },
            bytesParam: {
              type: 'bytes',
              id: 4,
              protoName: 'bytes_param',
            },
          },
        },
        RepositoryIndexRequest: {
          fields: {
            repositoryName: {
              type: 'string',
              id: 1,
              protoName: 'repository_name',
            },
            ready: {
              type: 'bool',
              id: 2,
            },
          },
        },
        RepositoryIndexResponse: {
          fields: {
            models: {
              rule: 'repeated',
              type: 'ModelIndex',
              id: 1,
            },
          },
          nested: {
            ModelIndex: {
              fields: {
                name: {
                  type: 'string',
                  id: 1,
                },
                version: {
                  type: 'string',
                  id: 2,
                },
                state: {
                  type: 'string',
                  id: 3,
                },
                reason: {
                  type: 'string',
                  id: 4,
                },
              },
            },
          },
        },
        RepositoryModelLoadRequest: {
          fields: {
            repositoryName: {
              type: 'string',
              id: 1,
              protoName: 'repository_name',
            },
            modelName: {
              type: 'string',
              id: 2,
              protoName: 'model_name',
            },
            parameters: {
              keyType: 'string',
              type: 'ModelRepositoryParameter',
              id: 3,
            },
          },
        },
        RepositoryModelLoadResponse: {
          fields: {},
        },
        RepositoryModelUnloadRequest: {
          fields: {
            repositoryName: {
              type: 'string',
              id: 1,
              protoName: 'repository_name',
            },
            modelName: {
              type: 'string',
              id: 2,
              protoName: 'model_name',
            },
            parameters: {
              keyType: 'string',
              type: 'ModelRepositoryParameter',
              id: 3,
            },
          },
        },
        RepositoryModelUnloadResponse: {
          fields: {},
        },
        SystemSharedMemoryStatusRequest: {
          fields: {
            name: {
              type: 'string',
              id: 1,
            },
          },
        },
        SystemSharedMemoryStatusResponse: {
          fields: {
            regions: {
              keyType: 'string',
              type: 'RegionStatus',
              id: 1,
            },
          },
          nested: {
            RegionStatus: {
              fields: {
                name: {
                  type: 'string',
                  id: 1,
                },
                key: {
                  type: 'string',
                  id: 2,
                },
                offset: {
                  type: 'uint64',
                  id: 3,
                },
                byteSize: {
                  type: 'uint64',
                  id: 4,
                  protoName: 'byte_size',
                },
              },
            },
          },
        },
        SystemSharedMemoryRegisterRequest: {
          fields: {
            name: {
              type: 'string',
              id: 1,
            },
            key: {
              type: 'string',
              id: 2,
            },
            offset: {
              type: 'uint64',
              id: 3,
            },
            byteSize: {
              type: 'uint64',
              id: 4,
              protoName: 'byte_size',
            },
          },
        },
        SystemSharedMemoryRegisterResponse: {
          fields: {},
        },
        SystemSharedMemoryUnregisterRequest: {
          fields: {
            name: {
              type: 'string',
              id: 1,
            },
          },
        },
        SystemSharedMemoryUnregisterResponse: {
          fields: {},
        },
        CudaSharedMemoryStatusRequest: {
          fields: {
            name: {
              type: 'string',
              id: 1,
            },
          },
        },
        CudaSharedMemoryStatusResponse: {
          fields: {
            regions: {
              keyType: 'string',
              type: 'RegionStatus',
              id: 1,
            },
          },
          nested: {
            RegionStatus: {
              fields: {
                name: {
                  type: 'string',
                  id: 1,
                },
                deviceId: {
                  type: 'uint64',
                  id: 2,
                  protoName: 'device_id',
                },
                byteSize: {
                  type: 'uint64',
                  id: 3,
                  protoName: 'byte_size',
                },
              },
            },
          },
        },
        CudaSharedMemoryRegisterRequest: {
          fields: {
            name: {
              type: 'string',
              id: 1,
            },
            rawHandle: {
              type: 'bytes',
              id: 2,
              protoName: 'raw_handle',
            },
            deviceId: {
              type: 'int64',
              id: 3,
              protoName: 'device_id',
            },
            byteSize: {
              type: 'uint64',
              id: 4,
              protoName: 'byte_size',
            },
          },
        },
        CudaSharedMemoryRegisterResponse: {
          fields: {},
        },
        CudaSharedMemoryUnregisterRequest: {
          fields: {
            name: {
              type: 'string',
              id: 1,
            },
          },
        },
        CudaSharedMemoryUnregisterResponse: {
          fields: {},
        },
        TraceSettingRequest: {
          fields: {
            settings: {
              keyType: 'string',
              type: 'SettingValue',
              id: 1,
            },
            modelName: {
              type: 'string',
              id: 2,
              protoName: 'model_name',
            },
          },
          nested: {
            SettingValue: {
              fields: {
                value: {
                  rule: 'repeated',
                  type: 'string',
                  id: 1,
                },
              },
            },
          },
        },
        TraceSettingResponse: {
          fields: {
            settings: {
              keyType: 'string',
              type: 'SettingValue',
              id: 1,
            },
          },
          nested: {
            SettingValue: {
              fields: {
                value: {
                  rule: 'repeated',
                  type: 'string',
                  id: 1,
                },
              },
            },
          },
        },
        LogSettingsRequest: {
          fields: {
            settings: {
              keyType: 'string',
              type: 'SettingValue',
              id: 1,
            },
          },
          nested: {
            SettingValue: {
              oneofs: {
                parameterChoice: {
                  oneof: ['boolParam', 'uint32Param', 'stringParam'],
                },
              },
              fields: {
                boolParam: {
                  type: 'bool',
                  id: 1,
                  protoName: 'bool_param',
                },
                uint32Param: {
                  type: 'uint32',
                  id: 2,
                  protoName: 'uint32_param',
                },
                stringParam: {
                  type: 'string',
                  id: 3,
                  protoName: 'string_param',
                },
              },
            },
          },
        },
        LogSettingsResponse: {
          fields: {
            settings: {
              keyType: 'string',
              type: 'SettingValue',
              id: 1,
            },
          },
          nested: {
            SettingValue: {
              oneofs: {
                parameterChoice: {
                  oneof: ['boolParam', 'uint32Param', 'stringParam'],
                },
              },
              fields: {
                boolParam: {
                  type: 'bool',
                  id: 1,
                  protoName: 'bool_param',
                },
                uint32Param: {
                  type: 'uint32',
                  id: 2,
                  protoName: 'uint32_param',
                },
                stringParam: {
                  type: 'string',
                  id: 3,
                  protoName: 'string_param',
                },
              },
            },
          },
        },
      },
    },
    grpc: {
      nested: {
        health: {
          nested: {
            v1: {
              nested: {
                Health: {
                  methods: {
                    Check: {
                      requestType: 'HealthCheckRequest',
                      responseType: 'HealthCheckResponse',
                    },
                  },
                },
                HealthCheckRequest: {
                  fields: {
                    service: {
                      type: 'string',
                      id: 1,
                    },
                  },
                },
                HealthCheckResponse: {
                  fields: {
                    status: {
                      type: 'ServingStatus',
                      id: 1,
                    },
                  },
                  nested: {
                    ServingStatus: {
                      values: {
                        UNKNOWN: 0,
                        SERVING: 1,
                        NOT_SERVING: 2,
                        SERVICE_UNKNOWN: 3,
                      },
                    },
                  },
                },
              },
            },
          },
        },
        reflection: {
          nested: {
            v1: {
              nested: {
                ServerReflection: {
                  methods: {
                    ServerReflectionInfo: {
                      requestType: 'ServerReflectionRequest',
                      requestStream: true,
                      responseType: 'ServerReflectionResponse',
                      responseStream: true,
                    },
                  },
                },
                ServerReflectionRequest: {
                  oneofs: {
                    messageRequest: {
                      oneof: [
                        'fileByFilename',
                        'fileContainingSymbol',
                        'fileContainingExtension',
                        'allExtensionNumbersOfType',
                        'listServices',
                      ],
                    },
                  },
                  fields: {
                    host: {
                      type: 'string',
                      id: 1,
                    },
                    fileByFilename: {
                      type: 'string',
                      id: 3,
                      protoName: 'file_by_filename',
                    },
                    fileContainingSymbol: {
                      type: 'string',
                      id: 4,
                      protoName: 'file_containing_symbol',
                    },
                    fileContainingExtension: {
                      type: 'ExtensionRequest',
                      id: 5,
                      protoName: 'file_containing_extension',
                    },
                    allExtensionNumbersOfType: {
                      type: 'string',
                      id: 6,
                      protoName: 'all_extension_numbers_of_type',
                    },
                    listServices: {
                      type: 'string',
                      id: 7,
                      protoName: 'list_services',
                    },
                  },
                },
                ExtensionRequest: {
                  fields: {
                    containingType: {
                      type: 'string',
                      id: 1,
                      protoName: 'containing_type',
                    },
                    extensionNumber: {
                      type: 'int32',
                      id: 2,
                      protoName: 'extension_number',
                    },
                  },
                },
                ServerReflectionResponse: {
                  oneofs: {
                    messageResponse: {
                      oneof: [
                        'fileDescriptorResponse',
                        'allExtensionNumbersResponse',
                        'listServicesResponse',
                        'errorResponse',
                      ],
                    },
                  },
                  fields: {
                    validHost: {
                      type: 'string',
                      id: 1,
                      protoName: 'valid_host',
                    },
                    originalRequest: {
                      type: 'ServerReflectionRequest',
                      id: 2,
                      protoName: 'original_request',
                    },
                    fileDescriptorResponse: {
                      type: 'FileDescriptorResponse',
                      id: 4,
                      protoName: 'file_descriptor_response',
                    },
                    allExtensionNumbersResponse: {
                      type: 'ExtensionNumberResponse',
                      id: 5,
                      protoName: 'all_extension_numbers_response',
                    },
                    listServicesResponse: {
                      type: 'ListServiceResponse',
                      id: 6,
                      protoName: 'list_services_response',
                    },
                    errorResponse: {
                      type: 'ErrorResponse',
                      id: 7,
                      protoName: 'error_response',
                    },
                  },
                },
                FileDescriptorResponse: {
                  fields: {
                    fileDescriptorProto: {
                      rule: 'repeated',
                      type: 'bytes',
                      id: 1,
                      protoName: 'file_descriptor_proto',
                    },
                  },
                },
                ExtensionNumberResponse: {
                  fields: {
                    baseTypeName: {
                      type: 'string',
                      id: 1,
                      protoName: 'base_type_name',
                    },
                    extensionNumber: {
                      rule: 'repeated',
                      type: 'int32',
                      id: 2,
                      protoName: 'extension_number',
                    },
                  },
                },
                ListServiceResponse: {
                  fields: {
                    service: {
                      rule: 'repeated',
                      type: 'ServiceResponse',
                      id: 1,
                    },
                  },
                },
                ServiceResponse: {
                  fields: {
                    name: {
                      type: 'string',
                      id: 1,
                    },
                  },
                },
                ErrorResponse: {
                  fields: {
                    errorCode: {
                      type: 'int32',
                      id: 1,
                      protoName: 'error_code',
                    },
                    errorMessage: {
                      type: 'string',
                      id: 2,
                      protoName: 'error_message',
                    },
                  },
                },
              },
            },
          },
        },
      },
    },
  },
};
