/** What `server-probe.mjs` tells of the server that it is loaded into. */
import { fileURLToPath } from 'node:url';
import type { NereidProcess } from './nereid-process.ts';

/** Arguments of Node that load the probe. */
export const PROBE_ARGS = ['--expose-gc', '--import', fileURLToPath(new URL('server-probe.mjs', import.meta.url))];

export interface ProbeLine {
  /** Since the process started. */
  readonly seconds: number;
  /** How late the event loop was since the last line. */
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Once garbage is collected. */
  readonly residentMiB: number;
  /** JavaScript's objects and what they hold outside of its heap, once garbage is collected. */
  readonly usedMiB: number;
}

/** Asks the probe every so often until it is stopped. */
export class ServerProbe {
  readonly #server: NereidProcess;
  readonly #timer: NodeJS.Timeout;

  constructor(server: NereidProcess, everyMs: number) {
    this.#server = server;
    this.#timer = setInterval(() => server.process.kill('SIGUSR2'), everyMs);
  }

  /** The lines so far but for the first, which tells of the start. */
  stop(): readonly ProbeLine[] {
    clearInterval(this.#timer);
    const lines = this.#server.output().matchAll(/^\{"probe":(\{.*\})\}$/gm);
    return [...lines].map(([, text = '']) => JSON.parse(text) as ProbeLine).slice(1);
  }
}
