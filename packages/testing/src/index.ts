export { type RequestForInit, requestFor, type TensorInit, tensor, valuesOf } from './builders.ts';
export { type AddSubNames, addSub, type Computation, identity } from './computations.ts';
export { FakeBackend, type FakeBackendOptions, type FakeModelOptions } from './fake-backend.ts';
export type { RecordedBatch } from './fake-instance.ts';
export { HoldingEngine } from './holding-engine.ts';
export { ManualClock } from './manual-clock.ts';
export { type ReadmeRun, runReadmeExample } from './readme-example.ts';
export { type Answer, RecordingResponder } from './recording-responder.ts';
export { testModel, usePython } from './workspace.ts';
