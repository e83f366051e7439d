/**
 * A connection beside its calls: is the client still there, does it ask that too often, has the connection lived long enough.
 *
 * Names and meanings are those of gRPC's channel arguments. Sources: grpc `doc/keepalive.md`, proposal A9 (server-side connection management),
 * `src/core/ext/transport/chttp2/transport/ping_abuse_policy.cc`.
 */
import type { Logger } from '@nereid/core';
import { H2 } from './http2/faults.ts';
import type { Session, SessionObserver } from './http2/session.ts';

/** Times in milliseconds. What gRPC writes as INT_MAX, 2 147 483 647, is no bound here either. */
export interface ConnectionLimits {
  /** A client that was not heard of for so long is asked with a PING, before twice that time; 0 asks never. Default 2 hours. */
  readonly keepaliveTimeMs: number;
  /** Time it has to answer; then the connection is ended with its calls. Default 20 s. */
  readonly keepaliveTimeoutMs: number;
  /** Whether connections without calls are asked, and may ask as often as those with calls. Default false. */
  readonly keepalivePermitWithoutCalls: boolean;
  /** PINGs in a row that are sent while the client is sent nothing else; 0 sets no bound. Default 0. */
  readonly maxPingsWithoutData: number;
  /** Time between two PINGs of a client that is sent nothing else; two hours without calls. Default 5 minutes. */
  readonly minPingIntervalMs: number;
  /** PINGs that may come too early; one more ends the connection with ENHANCE_YOUR_CALM, "too_many_pings". 0 sets no bound. Default 2. */
  readonly maxPingStrikes: number;
  /** Age, a tenth more or less, at which the client is told to open another connection (GOAWAY); 0 sets no bound. Default 0. */
  readonly maxAgeMs: number;
  /** Time that calls have to end then; 0 sets no bound. Default 0. */
  readonly maxAgeGraceMs: number;
}

export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = {
  keepaliveTimeMs: 7_200_000,
  keepaliveTimeoutMs: 20_000,
  keepalivePermitWithoutCalls: false,
  maxPingsWithoutData: 0,
  minPingIntervalMs: 300_000,
  maxPingStrikes: 2,
  maxAgeMs: 0,
  maxAgeGraceMs: 0,
};

const UNBOUNDED_MS = 2 ** 31 - 1;
/** What TCP keeps to where there are no calls (RFC 1122, 4.2.3.6). */
const IDLE_PING_INTERVAL_MS = 7_200_000;

export class Connection implements SessionObserver {
  readonly #session: Session;
  readonly #limits: ConnectionLimits;
  readonly #logger: Logger;
  #sentAtTheirPing = 0;
  #sentAtOurPing = 0;
  #theirPingAt = Number.NEGATIVE_INFINITY;
  #strikes = 0;
  #ourPings = 0;
  #bytesRead = 0;
  #keepaliveTimer: NodeJS.Timeout | undefined;
  #ageTimer: NodeJS.Timeout | undefined;

  constructor(session: Session, { limits, logger }: { readonly limits: ConnectionLimits; readonly logger: Logger }) {
    this.#session = session;
    this.#limits = limits;
    this.#logger = logger;
    session.observe(this);
    this.#awaitSilence();
    // So that connections that were opened together do not end together.
    const ageMs = Math.ceil(limits.maxAgeMs * (0.9 + Math.random() * 0.2));
    this.#ageTimer = this.#after(ageMs, () => this.#retire());
  }

  /** Of the session. */
  closed(): void {
    clearTimeout(this.#keepaliveTimer);
    clearTimeout(this.#ageTimer);
  }

  get #isIdle(): boolean {
    return this.#session.callCount === 0 && !this.#limits.keepalivePermitWithoutCalls;
  }

  /** Of the session. */
  pinged(): void {
    const { maxPingStrikes, minPingIntervalMs } = this.#limits;
    if (maxPingStrikes === 0) return;
    const { sentCount } = this.#session;
    const now = performance.now();
    const sinceMs = now - this.#theirPingAt;
    this.#theirPingAt = now;
    if (sentCount !== this.#sentAtTheirPing) {
      this.#sentAtTheirPing = sentCount;
      this.#strikes = 0;
      return;
    }
    if (sinceMs >= (this.#isIdle ? IDLE_PING_INTERVAL_MS : minPingIntervalMs)) return;
    this.#strikes++;
    if (this.#strikes <= maxPingStrikes) return;
    this.#end('too many pings', { code: H2.ENHANCE_YOUR_CALM, data: 'too_many_pings' });
  }

  #awaitSilence(): void {
    this.#bytesRead = this.#session.bytesRead;
    this.#keepaliveTimer = this.#after(this.#limits.keepaliveTimeMs, () => {
      if (this.#wasHeard || this.#isIdle || !this.#mayPing()) this.#awaitSilence();
      else this.#ping();
    });
  }

  get #wasHeard(): boolean {
    return this.#session.bytesRead !== this.#bytesRead;
  }

  #mayPing(): boolean {
    const { maxPingsWithoutData } = this.#limits;
    const { sentCount } = this.#session;
    if (sentCount !== this.#sentAtOurPing) this.#ourPings = 0;
    this.#sentAtOurPing = sentCount;
    return maxPingsWithoutData === 0 || this.#ourPings < maxPingsWithoutData;
  }

  #ping(): void {
    this.#ourPings++;
    this.#session.ping(() => {
      clearTimeout(this.#keepaliveTimer);
      this.#awaitSilence();
    });
    this.#keepaliveTimer = this.#after(this.#limits.keepaliveTimeoutMs, () => {
      // Its answer may be behind a large message.
      if (this.#wasHeard) this.#awaitSilence();
      else this.#end('a keepalive ping was not answered', { code: H2.NO_ERROR, data: 'ping_timeout' });
    });
  }

  #retire(): void {
    const session = this.#session;
    this.#logger.debug({}, 'a gRPC connection has reached its age');
    this.#ageTimer = this.#after(this.#limits.maxAgeGraceMs, () =>
      this.#end('calls outlived the age of their gRPC connection', {
        code: H2.NO_ERROR,
        data: 'max_age',
      }),
    );
    session.close('max_age');
  }

  /** Ends the connection with its calls, after a word why. */
  #end(why: string, { code, data }: { readonly code: number; readonly data: string }): void {
    const session = this.#session;
    if (session.isOver) return;
    this.#logger.debug({ address: session.remoteAddress, calls: session.callCount }, `gRPC connection ended: ${why}`);
    session.end(code, data);
  }

  /**
   * Calls back on a connection that is still there; does not keep the process.
   * @returns undefined for a time that sets no bound
   */
  #after(ms: number, then: () => void): NodeJS.Timeout | undefined {
    if (ms === 0 || ms >= UNBOUNDED_MS) return undefined;
    const checked = () => {
      if (!this.#session.isOver) then();
    };
    return setTimeout(checked, ms).unref();
  }
}
