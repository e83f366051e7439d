import protobuf from 'protobufjs';

/** The shape of a Triton model configuration, as far as it shows every kind of field. */
const PROTO = `
syntax = "proto3";
package inference;

enum DataType { TYPE_INVALID = 0; TYPE_BOOL = 1; TYPE_INT64 = 9; TYPE_FP16 = 10; TYPE_FP32 = 11; TYPE_STRING = 13; }

message ModelTensorReshape { repeated int64 shape = 1; }

message ModelInput {
  enum Format { FORMAT_NONE = 0; FORMAT_NHWC = 1; FORMAT_NCHW = 2; }
  string name = 1;
  DataType data_type = 2;
  Format format = 3;
  repeated int64 dims = 4;
  ModelTensorReshape reshape = 5;
  bool optional = 8;
}

message ModelOutput { string name = 1; DataType data_type = 2; repeated int64 dims = 3; string label_filename = 4; }

message ModelInstanceGroup {
  enum Kind { KIND_AUTO = 0; KIND_GPU = 1; KIND_CPU = 2; KIND_MODEL = 3; }
  string name = 1;
  Kind kind = 4;
  int32 count = 2;
  repeated int32 gpus = 3;
}

message ModelVersionPolicy {
  message Latest { uint32 num_versions = 1; }
  message All {}
  message Specific { repeated int64 versions = 1; }
  oneof policy_choice { Latest latest = 1; All all = 2; Specific specific = 3; }
}

message ModelDynamicBatching {
  repeated int32 preferred_batch_size = 1;
  uint64 max_queue_delay_microseconds = 2;
  bool preserve_ordering = 3;
  map<uint64, ModelTensorReshape> priority_queue_policy = 7;
}

message ModelSequenceBatching { uint64 max_sequence_idle_microseconds = 1; repeated float fp32_false_true = 2; }

message ModelParameter { string string_value = 1; }

message ModelMetrics { repeated double buckets = 1; bytes seed = 2; sint32 offset = 3; fixed32 mask = 4; }

message ModelConfig {
  reserved "old_field";
  string name = 1;
  string platform = 2;
  string backend = 17;
  ModelVersionPolicy version_policy = 3;
  int32 max_batch_size = 4;
  repeated ModelInput input = 5;
  repeated ModelOutput output = 6;
  oneof scheduling_choice { ModelDynamicBatching dynamic_batching = 11; ModelSequenceBatching sequence_batching = 13; }
  repeated ModelInstanceGroup instance_group = 7;
  string default_model_filename = 8;
  map<string, string> metric_tags = 10;
  map<string, ModelParameter> parameters = 14;
  ModelMetrics model_metrics = 26;
}
`;

export const modelConfig = protobuf.parse(PROTO).root.lookupType('inference.ModelConfig');

/** A message type of a test's own. */
export function typeOf(proto: string, name: string): protobuf.Type {
  return protobuf.parse(proto).root.lookupType(name);
}

export const SAMPLE = `# A detector.
name: "detector"
backend: 'pytorch'   # not platform
max_batch_size: 0x10

input [
  {
    name: "INPUT__0"
    data_type: TYPE_FP32
    dims: [ 3, 224, -1 ]
    reshape { shape: [ ] }
  },
  {
    name: "INPUT__1", data_type: 9; dims: 1 dims: [ 2 ]
  }
]
output < name: "OUTPUT__0" data_type: TYPE_FP32 dims: 10 >

# Batches of four.
dynamic_batching {
  preferred_batch_size: [ 4 ]
  max_queue_delay_microseconds: 18446744073709551615
  preserve_ordering: t
  priority_queue_policy { key: 3 value { shape: 1 } }
}
instance_group [{ kind: KIND_CPU count: 2 }]
version_policy: { all {} }

parameters {
  key: "INFERENCE_MODE"
  value: { string_value: "true" }
}
parameters: [ { key: "LABEL" value { string_value: "a\\tb" "c" } } ]
metric_tags { key: "team" value: "vision" }
model_metrics { buckets: [ 0.1, 1e3, inf, 2.5f ] seed: "\\000\\xff" offset: -1 mask: 0777 }
output { name: "OUTPUT__1" }
# The end.
`;

/** A parsed message in plain data, as its JSON mapping shows it. */
export function plain(type: protobuf.Type, message: Record<string, unknown> | undefined): unknown {
  return message && type.toObject(type.fromObject(message), { longs: String, enums: String, bytes: Array, json: true });
}
