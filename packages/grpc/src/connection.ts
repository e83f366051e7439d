/**
 * A connection beside its calls: is the client still there, does it ask that too often, has the connection lived long enough.
 *
 * Names and meanings are those of gRPC's channel arguments. Sources: grpc `doc/keepalive.md`, proposal A9 (server-side connection management),
 * `src/core/ext/transport/chttp2/transport/ping_abuse_policy.cc`.
 */
import { constants, type Http2Session } from 'node:http2';
import type { Logger } from '@nereid/core';

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

export class Connection {
  readonly #session: Http2Session;
  readonly #limits: ConnectionLimits;
  readonly #logger: Logger;
  #calls = 0;
  /** Times that something of a call was sent. */
  #sent = 0;
  #sentAtTheirPing = 0;
  #sentAtOurPing = 0;
  #theirPingAt = Number.NEGATIVE_INFINITY;
  #strikes = 0;
  #isEnding = false;
  #ourPings = 0;
  #bytesRead = 0;
  #keepaliveTimer: NodeJS.Timeout | undefined;
  #ageTimer: NodeJS.Timeout | undefined;

  constructor(
    session: Http2Session,
    { limits, logger }: { readonly limits: ConnectionLimits; readonly logger: Logger },
  ) {
    this.#session = session;
    this.#limits = limits;
    this.#logger = logger;
    if (limits.maxPingStrikes > 0) session.on('ping', () => this.#pinged());
    this.#awaitSilence();
    // So that connections that were opened together do not end together.
    const ageMs = Math.ceil(limits.maxAgeMs * (0.9 + Math.random() * 0.2));
    this.#ageTimer = this.#after(ageMs, () => this.#retire());
    session.on('close', () => this.#closed());
  }

  callOpened(): void {
    this.#calls++;
  }

  callClosed(): void {
    this.#calls--;
  }

  /** The client is sent headers or a message. */
  sent(): void {
    this.#sent++;
  }

  #closed(): void {
    clearTimeout(this.#keepaliveTimer);
    clearTimeout(this.#ageTimer);
  }

  get #isIdle(): boolean {
    return this.#calls === 0 && !this.#limits.keepalivePermitWithoutCalls;
  }

  #pinged(): void {
    const { maxPingStrikes, minPingIntervalMs } = this.#limits;
    const now = performance.now();
    const sinceMs = now - this.#theirPingAt;
    this.#theirPingAt = now;
    if (this.#sent !== this.#sentAtTheirPing) {
      this.#sentAtTheirPing = this.#sent;
      this.#strikes = 0;
      return;
    }
    if (sinceMs >= (this.#isIdle ? IDLE_PING_INTERVAL_MS : minPingIntervalMs)) return;
    this.#strikes++;
    if (this.#strikes <= maxPingStrikes) return;
    this.#end('too many pings', { code: constants.NGHTTP2_ENHANCE_YOUR_CALM, data: 'too_many_pings' });
  }

  #awaitSilence(): void {
    this.#bytesRead = this.#session.socket.bytesRead;
    this.#keepaliveTimer = this.#after(this.#limits.keepaliveTimeMs, () => {
      if (this.#wasHeard || this.#isIdle || !this.#mayPing()) this.#awaitSilence();
      else this.#ping();
    });
  }

  get #wasHeard(): boolean {
    return this.#session.socket.bytesRead !== this.#bytesRead;
  }

  #mayPing(): boolean {
    const { maxPingsWithoutData } = this.#limits;
    if (this.#sent !== this.#sentAtOurPing) this.#ourPings = 0;
    this.#sentAtOurPing = this.#sent;
    return maxPingsWithoutData === 0 || this.#ourPings < maxPingsWithoutData;
  }

  #ping(): void {
    this.#ourPings++;
    const answered = (error: Error | null) => {
      if (error !== null) return;
      clearTimeout(this.#keepaliveTimer);
      this.#awaitSilence();
    };
    this.#session.ping(answered);
    this.#keepaliveTimer = this.#after(this.#limits.keepaliveTimeoutMs, () => {
      // Its answer may be behind a large message.
      if (this.#wasHeard) this.#awaitSilence();
      else this.#end('a keepalive ping was not answered', { code: constants.NGHTTP2_NO_ERROR, data: 'ping_timeout' });
    });
  }

  #retire(): void {
    const session = this.#session;
    this.#logger.debug({}, 'a gRPC connection has reached its age');
    this.#ageTimer = this.#after(this.#limits.maxAgeGraceMs, () =>
      this.#end('calls outlived the age of their gRPC connection', {
        code: constants.NGHTTP2_NO_ERROR,
        data: 'max_age',
      }),
    );
    session.goaway(constants.NGHTTP2_NO_ERROR, 0, Buffer.from('max_age'));
    session.close();
  }

  /** Ends the connection with its calls, after a word why. */
  #end(why: string, { code, data }: { readonly code: number; readonly data: string }): void {
    const session = this.#session;
    if (session.destroyed || this.#isEnding) return;
    this.#isEnding = true;
    this.#closed();
    this.#logger.debug({ address: session.socket.remoteAddress, calls: this.#calls }, `gRPC connection ended: ${why}`);
    session.goaway(code, 0, Buffer.from(data));
    // The frame goes out at the end of this turn. Node ends with a GOAWAY of its own, which is to say the same.
    setImmediate(() => session.destroy(code === constants.NGHTTP2_NO_ERROR ? undefined : new Error(why), code));
  }

  /**
   * Calls back on a connection that is still there; does not keep the process.
   * @returns undefined for a time that sets no bound
   */
  #after(ms: number, then: () => void): NodeJS.Timeout | undefined {
    if (ms === 0 || ms >= UNBOUNDED_MS) return undefined;
    const checked = () => {
      if (!this.#session.destroyed) then();
    };
    return setTimeout(checked, ms).unref();
  }
}
