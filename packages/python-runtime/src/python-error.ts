/** What failed in the process or with it, as errors of this package: with the last lines of the traceback, and with what to do. */
import { InferenceServerError } from '@nereid/core';
import { PythonRuntimeError, type PythonRuntimeErrorInit } from './errors.ts';
import { PYTHON_REMEDY } from './find-python.ts';
import { CallFailure } from './model-process.ts';
import { SupervisorError } from './supervisor/index.ts';
import { TransportError } from './transport/index.ts';

/** As `describe` of runtime.py puts it. */
interface PythonFailure {
  readonly reason: string;
  readonly error: string;
  /** `model.py:7, in forward: return x @ y`, outermost first. */
  readonly frames: readonly string[];
  readonly traceback: string;
}

type Fault = Pick<PythonRuntimeErrorInit, 'code' | 'reason'>;

const RUN_FAULTS: Readonly<Record<string, Fault>> = {
  output: { code: 'INVALID_ARG', reason: 'output' },
  memory: { code: 'UNAVAILABLE', reason: 'memory' },
  state: { code: 'UNAVAILABLE', reason: 'process' },
};
const LOAD_FAULTS: Readonly<Record<string, Fault>> = {
  torch: { code: 'UNAVAILABLE', reason: 'python' },
  class: { code: 'INVALID_ARG', reason: 'load' },
  weights: { code: 'INVALID_ARG', reason: 'load' },
  device: { code: 'INVALID_ARG', reason: 'load' },
  state: { code: 'INVALID_ARG', reason: 'load' },
};
const SHOWN_LINES = 5;

/** Why the requests of a call failed. */
export function runError(modelName: string, thrown: unknown): InferenceServerError {
  if (thrown instanceof CallFailure) {
    const failure = parseFailure(thrown.detail);
    const { code, reason } = RUN_FAULTS[failure.reason] ?? { code: 'INTERNAL', reason: 'execution' };
    const message = `model '${modelName}': ${withFrames(failure, 'forward failed')}`;
    return new PythonRuntimeError({ code, reason, message, traceback: failure.traceback });
  }
  if (thrown instanceof TransportError) {
    const message = `model '${modelName}': ${thrown.message}`;
    return new PythonRuntimeError({ code: thrown.code, reason: 'memory', message, cause: thrown });
  }
  if (thrown instanceof SupervisorError) {
    const reason = thrown.reason === 'stopped' ? 'closed' : 'process';
    return new PythonRuntimeError({
      code: 'UNAVAILABLE',
      reason,
      message: processText(modelName, thrown),
      cause: thrown,
    });
  }
  return InferenceServerError.from(thrown);
}

/** Why an instance could not be created. */
export function startError(modelName: string, thrown: unknown): InferenceServerError {
  if (!(thrown instanceof SupervisorError)) return InferenceServerError.from(thrown);
  if (thrown.reason !== 'start-failed') {
    const message = processText(modelName, thrown);
    return new PythonRuntimeError({ code: 'UNAVAILABLE', reason: 'start', message, cause: thrown });
  }
  const failure = parseFailure(thrown.detail);
  const { code, reason } = LOAD_FAULTS[failure.reason] ?? { code: 'INTERNAL', reason: 'load' };
  const remedy = reason === 'python' ? `. ${PYTHON_REMEDY}` : '';
  const message = `failed to load model '${modelName}': ${withFrames(failure, 'its code failed')}${remedy}`;
  return new PythonRuntimeError({ code, reason, message, traceback: failure.traceback, cause: thrown });
}

function withFrames({ reason, error, frames }: PythonFailure, what: string): string {
  if (reason !== 'python') return error;
  return [`${what}: ${error}`, ...frames.map((frame) => `  at ${frame}`)].join('\n');
}

function processText(modelName: string, { message, lastLines }: SupervisorError): string {
  const lines = shownLines(lastLines.filter((line) => line.trim() !== ''));
  return [`model '${modelName}': ${message}${lines.length > 0 ? '; its last lines:' : ''}`, ...lines].join('\n  ');
}

/** The end tells most; but after a crash in native code Python prints its stack innermost first. */
function shownLines(lines: readonly string[]): readonly string[] {
  const fatal = lines.findLastIndex((line) => line.startsWith('Fatal Python error'));
  return fatal === -1 ? lines.slice(-SHOWN_LINES) : lines.slice(fatal, fatal + SHOWN_LINES);
}

function parseFailure(detail: Uint8Array): PythonFailure {
  const text = Buffer.from(detail).toString('utf8');
  try {
    const parsed: unknown = JSON.parse(text);
    if (isFailure(parsed)) return parsed;
  } catch {
    // Shown as it came.
  }
  return { reason: 'unknown', error: text, frames: [], traceback: '' };
}

function isFailure(value: unknown): value is PythonFailure {
  if (typeof value !== 'object' || value === null) return false;
  if (!('reason' in value && 'error' in value && 'frames' in value && 'traceback' in value)) return false;
  const texts = [value.reason, value.error, value.traceback];
  return texts.every((text) => typeof text === 'string') && Array.isArray(value.frames);
}
