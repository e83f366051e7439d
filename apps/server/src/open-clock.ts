import { AlarmClock, SystemClock } from '@nereid/batching';
import type { Clock } from '@nereid/core';

/** A clock that is closed with the server. */
export interface ServerClock {
  readonly clock: Clock;
  close(): void;
}

/**
 * The time of the engine: on the addon's alarm, or, where the addon cannot be loaded, on the event loop alone. A model that needs the addon then says why it
 * is not there.
 */
export async function openClock(): Promise<ServerClock> {
  const native = await import('@nereid/native').catch(() => undefined);
  if (native === undefined) return { clock: new SystemClock(), close: () => {} };
  const clock = new AlarmClock(native.openAlarm);
  return { clock, close: () => clock.close() };
}
