import type { Clock, Timer } from '@nereid/core';

/** Timers of the event loop, good to a millisecond: enough for time-outs and restarts. They do not keep the process alive. */
export const systemClock: Clock = {
  nowMicros: () => performance.now() * 1000,
  at(deadlineMicros: number, callback: () => void): Timer {
    const delayMs = Math.max(0, Math.ceil(deadlineMicros / 1000 - performance.now()));
    const timer = setTimeout(callback, delayMs).unref();
    return { cancel: () => clearTimeout(timer) };
  },
};
