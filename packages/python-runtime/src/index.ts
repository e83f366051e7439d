export { PythonRuntimeBackend, type PythonRuntimeOptions } from './backend.ts';
export { PythonRuntimeError, type PythonRuntimeErrorInit, type PythonRuntimeErrorReason } from './errors.ts';
export type { PythonInstance } from './instance.ts';
export { locateModelFile, type ModelFileRequest } from './locate-model-file.ts';
export type { PythonModel } from './model.ts';
export type { ModelProcessOptions } from './model-process.ts';
