export { type Backoff, restartDelayMs } from './backoff.ts';
export type { Launch } from './child.ts';
export { SupervisorError, type SupervisorErrorInit, type SupervisorErrorReason } from './errors.ts';
export { FIRST_USER_FRAME, FRAME, type Frame } from './frames.ts';
export {
  type ProcessListeners,
  type ProcessState,
  SupervisedProcess,
  type SupervisedProcessInit,
  type SupervisorOptions,
} from './supervised-process.ts';
export { systemClock } from './system-clock.ts';
