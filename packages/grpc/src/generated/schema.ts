// Generated from proto/ by scripts/generate.mjs; edit that and run `pnpm generate`.
export const SCHEMA = {
  nested: {
    inference: {
      nested: {
        DataType: {
          values: {
            TYPE_INVALID: 0,
            TYPE_BOOL: 1,
            TYPE_UINT8: 2,
            TYPE_UINT16: 3,
            TYPE_UINT32: 4,
            TYPE_UINT64: 5,
            TYPE_INT8: 6,
            TYPE_INT16: 7,
            TYPE_INT32: 8,
            TYPE_INT64: 9,
            TYPE_FP16: 10,
            TYPE_FP32: 11,
            TYPE_FP64: 12,
            TYPE_STRING: 13,
            TYPE_BF16: 14,
          },
        },
        ModelRateLimiter: {
          fields: {
            resources: {
              rule: 'repeated',
              type: 'Resource',
              id: 1,
            },
            priority: {
              type: 'uint32',
              id: 2,
            },
          },
          nested: {
            Resource: {
              fields: {
                name: {
                  type: 'string',
                  id: 1,
                },
                global: {
                  type: 'bool',
                  id: 2,
                },
                count: {
                  type: 'uint32',
                  id: 3,
                },
              },
            },
          },
        },
        ModelInstanceGroup: {
          fields: {
            name: {
              type: 'string',
              id: 1,
            },
            kind: {
              type: 'Kind',
              id: 4,
            },
            count: {
              type: 'int32',
              id: 2,
            },
            rateLimiter: {
              type: 'ModelRateLimiter',
              id: 6,
              protoName: 'rate_limiter',
            },
            gpus: {
              rule: 'repeated',
              type: 'int32',
              id: 3,
            },
            secondaryDevices: {
              rule: 'repeated',
              type: 'SecondaryDevice',
              id: 8,
              protoName: 'secondary_devices',
            },
            profile: {
              rule: 'repeated',
              type: 'string',
              id: 5,
            },
            passive: {
              type: 'bool',
              id: 7,
            },
            hostPolicy: {
              type: 'string',
              id: 9,
              protoName: 'host_policy',
            },
          },
          nested: {
            Kind: {
              values: {
                KIND_AUTO: 0,
                KIND_GPU: 1,
                KIND_CPU: 2,
                KIND_MODEL: 3,
              },
            },
            SecondaryDevice: {
              fields: {
                kind: {
                  type: 'SecondaryDeviceKind',
                  id: 1,
                },
                deviceId: {
                  type: 'int64',
                  id: 2,
                  protoName: 'device_id',
                },
              },
              nested: {
                SecondaryDeviceKind: {
                  values: {
                    KIND_NVDLA: 0,
                  },
                },
              },
            },
          },
        },
        ModelTensorReshape: {
          fields: {
            shape: {
              rule: 'repeated',
              type: 'int64',
              id: 1,
            },
          },
        },
        ModelInput: {
          fields: {
            name: {
              type: 'string',
              id: 1,
            },
            dataType: {
              type: 'DataType',
              id: 2,
              protoName: 'data_type',
            },
            format: {
              type: 'Format',
              id: 3,
            },
            dims: {
              rule: 'repeated',
              type: 'int64',
              id: 4,
            },
            reshape: {
              type: 'ModelTensorReshape',
              id: 5,
            },
            isShapeTensor: {
              type: 'bool',
              id: 6,
              protoName: 'is_shape_tensor',
            },
            allowRaggedBatch: {
              type: 'bool',
              id: 7,
              protoName: 'allow_ragged_batch',
            },
            optional: {
              type: 'bool',
              id: 8,
            },
            isNonLinearFormatIo: {
              type: 'bool',
              id: 9,
              protoName: 'is_non_linear_format_io',
            },
          },
          nested: {
            Format: {
              values: {
                FORMAT_NONE: 0,
                FORMAT_NHWC: 1,
                FORMAT_NCHW: 2,
              },
            },
          },
        },
        ModelOutput: {
          fields: {
            name: {
              type: 'string',
              id: 1,
            },
            dataType: {
              type: 'DataType',
              id: 2,
              protoName: 'data_type',
            },
            dims: {
              rule: 'repeated',
              type: 'int64',
              id: 3,
            },
            reshape: {
              type: 'ModelTensorReshape',
              id: 5,
            },
            labelFilename: {
              type: 'string',
              id: 4,
              protoName: 'label_filename',
            },
            isShapeTensor: {
              type: 'bool',
              id: 6,
              protoName: 'is_shape_tensor',
            },
            isNonLinearFormatIo: {
              type: 'bool',
              id: 7,
              protoName: 'is_non_linear_format_io',
            },
          },
        },
        BatchInput: {
          fields: {
            kind: {
              type: 'Kind',
              id: 1,
            },
            targetName: {
              rule: 'repeated',
              type: 'string',
              id: 2,
              protoName: 'target_name',
            },
            dataType: {
              type: 'DataType',
              id: 3,
              protoName: 'data_type',
            },
            sourceInput: {
              rule: 'repeated',
              type: 'string',
              id: 4,
              protoName: 'source_input',
            },
          },
          nested: {
            Kind: {
              values: {
                BATCH_ELEMENT_COUNT: 0,
                BATCH_ACCUMULATED_ELEMENT_COUNT: 1,
                BATCH_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO: 2,
                BATCH_MAX_ELEMENT_COUNT_AS_SHAPE: 3,
                BATCH_ITEM_SHAPE: 4,
                BATCH_ITEM_SHAPE_FLATTEN: 5,
              },
            },
          },
        },
        BatchOutput: {
          fields: {
            targetName: {
              rule: 'repeated',
              type: 'string',
              id: 1,
              protoName: 'target_name',
            },
            kind: {
              type: 'Kind',
              id: 2,
            },
            sourceInput: {
              rule: 'repeated',
              type: 'string',
              id: 3,
              protoName: 'source_input',
            },
          },
          nested: {
            Kind: {
              values: {
                BATCH_SCATTER_WITH_INPUT_SHAPE: 0,
              },
            },
          },
        },
        ModelVersionPolicy: {
          oneofs: {
            policyChoice: {
              oneof: ['latest', 'all', 'specific'],
            },
          },
          fields: {
            latest: {
              type: 'Latest',
              id: 1,
            },
            all: {
              type: 'All',
              id: 2,
            },
            specific: {
              type: 'Specific',
              id: 3,
            },
          },
          nested: {
            Latest: {
              fields: {
                numVersions: {
                  type: 'uint32',
                  id: 1,
                  protoName: 'num_versions',
                },
              },
            },
            All: {
              fields: {},
            },
            Specific: {
              fields: {
                versions: {
                  rule: 'repeated',
                  type: 'int64',
                  id: 1,
                },
              },
            },
          },
        },
        ModelOptimizationPolicy: {
          fields: {
            graph: {
              type: 'Graph',
              id: 1,
            },
            priority: {
              type: 'ModelPriority',
              id: 2,
            },
            cuda: {
              type: 'Cuda',
              id: 3,
            },
            executionAccelerators: {
              type: 'ExecutionAccelerators',
              id: 4,
              protoName: 'execution_accelerators',
            },
            inputPinnedMemory: {
              type: 'PinnedMemoryBuffer',
              id: 5,
              protoName: 'input_pinned_memory',
            },
            outputPinnedMemory: {
              type: 'PinnedMemoryBuffer',
              id: 6,
              protoName: 'output_pinned_memory',
            },
            gatherKernelBufferThreshold: {
              type: 'uint32',
              id: 7,
              protoName: 'gather_kernel_buffer_threshold',
            },
            eagerBatching: {
              type: 'bool',
              id: 8,
              protoName: 'eager_batching',
            },
          },
          nested: {
            Graph: {
              fields: {
                level: {
                  type: 'int32',
                  id: 1,
                },
              },
            },
            ModelPriority: {
              values: {
                PRIORITY_DEFAULT: 0,
                PRIORITY_MAX: 1,
                PRIORITY_MIN: 2,
              },
            },
            Cuda: {
              fields: {
                graphs: {
                  type: 'bool',
                  id: 1,
                },
                busyWaitEvents: {
                  type: 'bool',
                  id: 2,
                  protoName: 'busy_wait_events',
                },
                graphSpec: {
                  rule: 'repeated',
                  type: 'GraphSpec',
                  id: 3,
                  protoName: 'graph_spec',
                },
                outputCopyStream: {
                  type: 'bool',
                  id: 4,
                  protoName: 'output_copy_stream',
                },
              },
              nested: {
                GraphSpec: {
                  fields: {
                    batchSize: {
                      type: 'int32',
                      id: 1,
                      protoName: 'batch_size',
                    },
                    input: {
                      keyType: 'string',
                      type: 'Shape',
                      id: 2,
                    },
                    graphLowerBound: {
                      type: 'LowerBound',
                      id: 3,
                      protoName: 'graph_lower_bound',
                    },
                  },
                  nested: {
                    Shape: {
                      fields: {
                        dim: {
                          rule: 'repeated',
                          type: 'int64',
                          id: 1,
                        },
                      },
                    },
                    LowerBound: {
                      fields: {
                        batchSize: {
                          type: 'int32',
                          id: 1,
                          protoName: 'batch_size',
                        },
                        input: {
                          keyType: 'string',
                          type: 'Shape',
                          id: 2,
                        },
                      },
                    },
                  },
                },
              },
            },
            ExecutionAccelerators: {
              fields: {
                gpuExecutionAccelerator: {
                  rule: 'repeated',
                  type: 'Accelerator',
                  id: 1,
                  protoName: 'gpu_execution_accelerator',
                },
                cpuExecutionAccelerator: {
                  rule: 'repeated',
                  type: 'Accelerator',
                  id: 2,
                  protoName: 'cpu_execution_accelerator',
                },
              },
              nested: {
                Accelerator: {
                  fields: {
                    name: {
                      type: 'string',
                      id: 1,
                    },
                    parameters: {
                      keyType: 'string',
                      type: 'string',
                      id: 2,
                    },
                  },
                },
              },
            },
            PinnedMemoryBuffer: {
              fields: {
                enable: {
                  type: 'bool',
                  id: 1,
                },
              },
            },
          },
        },
        ModelQueuePolicy: {
          fields: {
            timeoutAction: {
              type: 'TimeoutAction',
              id: 1,
              protoName: 'timeout_action',
            },
            defaultTimeoutMicroseconds: {
              type: 'uint64',
              id: 2,
              protoName: 'default_timeout_microseconds',
            },
            allowTimeoutOverride: {
              type: 'bool',
              id: 3,
              protoName: 'allow_timeout_override',
            },
            maxQueueSize: {
              type: 'uint32',
              id: 4,
              protoName: 'max_queue_size',
            },
          },
          nested: {
            TimeoutAction: {
              values: {
                REJECT: 0,
                DELAY: 1,
              },
            },
          },
        },
        ModelDynamicBatching: {
          fields: {
            preferredBatchSize: {
              rule: 'repeated',
              type: 'int32',
              id: 1,
              protoName: 'preferred_batch_size',
            },
            maxQueueDelayMicroseconds: {
              type: 'uint64',
              id: 2,
              protoName: 'max_queue_delay_microseconds',
            },
            preserveOrdering: {
              type: 'bool',
              id: 3,
              protoName: 'preserve_ordering',
            },
            priorityLevels: {
              type: 'uint64',
              id: 4,
              protoName: 'priority_levels',
            },
            defaultPriorityLevel: {
              type: 'uint64',
              id: 5,
              protoName: 'default_priority_level',
            },
            defaultQueuePolicy: {
              type: 'ModelQueuePolicy',
              id: 6,
              protoName: 'default_queue_policy',
            },
            priorityQueuePolicy: {
              keyType: 'uint64',
              type: 'ModelQueuePolicy',
              id: 7,
              protoName: 'priority_queue_policy',
            },
          },
        },
        ModelSequenceBatching: {
          oneofs: {
            strategyChoice: {
              oneof: ['direct', 'oldest'],
            },
          },
          fields: {
            direct: {
              type: 'StrategyDirect',
              id: 3,
            },
            oldest: {
              type: 'StrategyOldest',
              id: 4,
            },
            maxSequenceIdleMicroseconds: {
              type: 'uint64',
              id: 1,
              protoName: 'max_sequence_idle_microseconds',
            },
            controlInput: {
              rule: 'repeated',
              type: 'ControlInput',
              id: 2,
              protoName: 'control_input',
            },
            state: {
              rule: 'repeated',
              type: 'State',
              id: 5,
            },
            iterativeSequence: {
              type: 'bool',
              id: 6,
              protoName: 'iterative_sequence',
            },
          },
          nested: {
            Control: {
              fields: {
                kind: {
                  type: 'Kind',
                  id: 1,
                },
                int32FalseTrue: {
                  rule: 'repeated',
                  type: 'int32',
                  id: 2,
                  protoName: 'int32_false_true',
                },
                fp32FalseTrue: {
                  rule: 'repeated',
                  type: 'float',
                  id: 3,
                  protoName: 'fp32_false_true',
                },
                boolFalseTrue: {
                  rule: 'repeated',
                  type: 'bool',
                  id: 5,
                  protoName: 'bool_false_true',
                },
                dataType: {
                  type: 'DataType',
                  id: 4,
                  protoName: 'data_type',
                },
              },
              nested: {
                Kind: {
                  values: {
                    CONTROL_SEQUENCE_START: 0,
                    CONTROL_SEQUENCE_READY: 1,
                    CONTROL_SEQUENCE_END: 2,
                    CONTROL_SEQUENCE_CORRID: 3,
                  },
                },
              },
            },
            ControlInput: {
              fields: {
                name: {
                  type: 'string',
                  id: 1,
                },
                control: {
                  rule: 'repeated',
                  type: 'Control',
                  id: 2,
                },
              },
            },
            InitialState: {
              oneofs: {
                stateData: {
                  oneof: ['zeroData', 'dataFile'],
                },
              },
              fields: {
                dataType: {
                  type: 'DataType',
                  id: 1,
                  protoName: 'data_type',
                },
                dims: {
                  rule: 'repeated',
                  type: 'int64',
                  id: 2,
                },
                zeroData: {
                  type: 'bool',
                  id: 3,
                  protoName: 'zero_data',
                },
                dataFile: {
                  type: 'string',
                  id: 4,
                  protoName: 'data_file',
                },
                name: {
                  type: 'string',
                  id: 5,
                },
              },
            },
            State: {
              fields: {
                inputName: {
                  type: 'string',
                  id: 1,
                  protoName: 'input_name',
                },
                outputName: {
                  type: 'string',
                  id: 2,
                  protoName: 'output_name',
                },
                dataType: {
                  type: 'DataType',
                  id: 3,
                  protoName: 'data_type',
                },
                dims: {
                  rule: 'repeated',
                  type: 'int64',
                  id: 4,
                },
                initialState: {
                  rule: 'repeated',
                  type: 'InitialState',
                  id: 5,
                  protoName: 'initial_state',
                },
                useSameBufferForInputOutput: {
                  type: 'bool',
                  id: 6,
                  protoName: 'use_same_buffer_for_input_output',
                },
                useGrowableMemory: {
                  type: 'bool',
                  id: 7,
                  protoName: 'use_growable_memory',
                },
              },
            },
            StrategyDirect: {
              fields: {
                maxQueueDelayMicroseconds: {
                  type: 'uint64',
                  id: 1,
                  protoName: 'max_queue_delay_microseconds',
                },
                minimumSlotUtilization: {
                  type: 'float',
                  id: 2,
                  protoName: 'minimum_slot_utilization',
                },
              },
            },
            StrategyOldest: {
              fields: {
                maxCandidateSequences: {
                  type: 'int32',
                  id: 1,
                  protoName: 'max_candidate_sequences',
                },
                preferredBatchSize: {
                  rule: 'repeated',
                  type: 'int32',
                  id: 2,
                  protoName: 'preferred_batch_size',
                },
                maxQueueDelayMicroseconds: {
                  type: 'uint64',
                  id: 3,
                  protoName: 'max_queue_delay_microseconds',
                },
                preserveOrdering: {
                  type: 'bool',
                  id: 4,
                  protoName: 'preserve_ordering',
                },
              },
            },
          },
        },
        ModelEnsembling: {
          fields: {
            step: {
              rule: 'repeated',
              type: 'Step',
              id: 1,
            },
            maxInflightRequests: {
              type: 'uint32',
              id: 2,
              protoName: 'max_inflight_requests',
            },
          },
          nested: {
            Step: {
              fields: {
                modelName: {
                  type: 'string',
                  id: 1,
                  protoName: 'model_name',
                },
                modelVersion: {
                  type: 'int64',
                  id: 2,
                  protoName: 'model_version',
                },
                inputMap: {
                  keyType: 'string',
                  type: 'string',
                  id: 3,
                  protoName: 'input_map',
                },
                outputMap: {
                  keyType: 'string',
                  type: 'string',
                  id: 4,
                  protoName: 'output_map',
                },
                modelNamespace: {
                  type: 'string',
                  id: 5,
                  protoName: 'model_namespace',
                },
              },
            },
          },
        },
        ModelParameter: {
          fields: {
            stringValue: {
              type: 'string',
              id: 1,
              protoName: 'string_value',
            },
          },
        },
        ModelWarmup: {
          fields: {
            name: {
              type: 'string',
              id: 1,
            },
            batchSize: {
              type: 'uint32',
              id: 2,
              protoName: 'batch_size',
            },
            inputs: {
              keyType: 'string',
              type: 'Input',
              id: 3,
            },
            count: {
              type: 'uint32',
              id: 4,
            },
          },
          nested: {
            Input: {
              oneofs: {
                inputDataType: {
                  oneof: ['zeroData', 'randomData', 'inputDataFile'],
                },
              },
              fields: {
                dataType: {
                  type: 'DataType',
                  id: 1,
                  protoName: 'data_type',
                },
                dims: {
                  rule: 'repeated',
                  type: 'int64',
                  id: 2,
                },
                zeroData: {
                  type: 'bool',
                  id: 3,
                  protoName: 'zero_data',
                },
                randomData: {
                  type: 'bool',
                  id: 4,
                  protoName: 'random_data',
                },
                inputDataFile: {
                  type: 'string',
                  id: 5,
                  protoName: 'input_data_file',
                },
              },
            },
          },
        },
        ModelOperations: {
          fields: {
            opLibraryFilename: {
              rule: 'repeated',
              type: 'string',
              id: 1,
              protoName: 'op_library_filename',
            },
          },
        },
        ModelTransactionPolicy: {
          fields: {
            decoupled: {
              type: 'bool',
              id: 1,
            },
          },
        },
        ModelRepositoryAgents: {
          fields: {
            agents: {
              rule: 'repeated',
              type: 'Agent',
              id: 1,
            },
          },
          nested: {
            Agent: {
              fields: {
                name: {
                  type: 'string',
                  id: 1,
                },
                parameters: {
                  keyType: 'string',
                  type: 'string',
                  id: 2,
                },
              },
            },
          },
        },
        ModelResponseCache: {
          fields: {
            enable: {
              type: 'bool',
              id: 1,
            },
          },
        },
        ModelMetrics: {
          fields: {
            metricControl: {
              rule: 'repeated',
              type: 'MetricControl',
              id: 1,
              protoName: 'metric_control',
            },
          },
          nested: {
            MetricControl: {
              oneofs: {
                metricOptions: {
                  oneof: ['histogramOptions'],
                },
              },
              fields: {
                metricIdentifier: {
                  type: 'MetricIdentifier',
                  id: 1,
                  protoName: 'metric_identifier',
                },
                histogramOptions: {
                  type: 'HistogramOptions',
                  id: 2,
                  protoName: 'histogram_options',
                },
              },
              nested: {
                MetricIdentifier: {
                  fields: {
                    family: {
                      type: 'string',
                      id: 1,
                    },
                  },
                },
                HistogramOptions: {
                  fields: {
                    buckets: {
                      rule: 'repeated',
                      type: 'double',
                      id: 1,
                    },
                  },
                },
              },
            },
          },
        },
        ModelConfig: {
          oneofs: {
            schedulingChoice: {
              oneof: ['dynamicBatching', 'sequenceBatching', 'ensembleScheduling'],
            },
          },
          fields: {
            name: {
              type: 'string',
              id: 1,
            },
            platform: {
              type: 'string',
              id: 2,
            },
            backend: {
              type: 'string',
              id: 17,
            },
            runtime: {
              type: 'string',
              id: 25,
            },
            versionPolicy: {
              type: 'ModelVersionPolicy',
              id: 3,
              protoName: 'version_policy',
            },
            maxBatchSize: {
              type: 'int32',
              id: 4,
              protoName: 'max_batch_size',
            },
            input: {
              rule: 'repeated',
              type: 'ModelInput',
              id: 5,
            },
            output: {
              rule: 'repeated',
              type: 'ModelOutput',
              id: 6,
            },
            batchInput: {
              rule: 'repeated',
              type: 'BatchInput',
              id: 20,
              protoName: 'batch_input',
            },
            batchOutput: {
              rule: 'repeated',
              type: 'BatchOutput',
              id: 21,
              protoName: 'batch_output',
            },
            optimization: {
              type: 'ModelOptimizationPolicy',
              id: 12,
            },
            dynamicBatching: {
              type: 'ModelDynamicBatching',
              id: 11,
              protoName: 'dynamic_batching',
            },
            sequenceBatching: {
              type: 'ModelSequenceBatching',
              id: 13,
              protoName: 'sequence_batching',
            },
            ensembleScheduling: {
              type: 'ModelEnsembling',
              id: 15,
              protoName: 'ensemble_scheduling',
            },
            instanceGroup: {
              rule: 'repeated',
              type: 'ModelInstanceGroup',
              id: 7,
              protoName: 'instance_group',
            },
            defaultModelFilename: {
              type: 'string',
              id: 8,
              protoName: 'default_model_filename',
            },
            ccModelFilenames: {
              keyType: 'string',
              type: 'string',
              id: 9,
              protoName: 'cc_model_filenames',
            },
            metricTags: {
              keyType: 'string',
              type: 'string',
              id: 10,
              protoName: 'metric_tags',
            },
            parameters: {
              keyType: 'string',
              type: 'ModelParameter',
              id: 14,
            },
            modelWarmup: {
              rule: 'repeated',
              type: 'ModelWarmup',
              id: 16,
              protoName: 'model_warmup',
            },
            modelOperations: {
              type: 'ModelOperations',
              id: 18,
              protoName: 'model_operations',
            },
            modelTransactionPolicy: {
              type: 'ModelTransactionPolicy',
              id: 19,
              protoName: 'model_transaction_policy',
            },
            modelRepositoryAgents: {
              type: 'ModelRepositoryAgents',
              id: 23,
              protoName: 'model_repository_agents',
            },
            responseCache: {
              type: 'ModelResponseCache',
              id: 24,
              protoName: 'response_cache',
            },
            modelMetrics: {
              type: 'ModelMetrics',
              id: 26,
              protoName: 'model_metrics',
            },
          },
        },
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
              type: 'ModelConfig',
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
      },
    },
  },
};
