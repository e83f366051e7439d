import type { Clock, Timer } from '@nereid/core';

/** What the driver tells a policy by itself. */
export type TimedEvent =
  /** The turn of the event loop is over that was asked for. */
  | { readonly type: 'turn-end'; readonly nowMicros: number }
  /** The time is up that was asked for. */
  | { readonly type: 'timer'; readonly nowMicros: number };

/** A scheduler's decisions: events go in, things to do come out. It knows no clock and no promise, and never calls anything. */
interface DrivenPolicy<Event, Action> {
  decide(event: Event | TimedEvent): Iterable<Action>;
  /** Whether it wants a `turn-end`. */
  readonly wantsTurnEnd: boolean;
  /** When it wants a `timer`; Infinity for never. */
  readonly wakeMicros: number;
}

export interface PolicyDriverOptions<Event, Action> {
  readonly policy: DrivenPolicy<Event, Action>;
  readonly clock: Clock;
  /** Calls back when the current turn of the event loop is over. */
  readonly afterTurn: (callback: () => void) => void;
  /** Does what was decided. It may lead to further events. */
  readonly perform: (action: Action) => void;
  /** Called when everything decided so far was done. */
  readonly acted: () => void;
  /** Whether anything is left that a timer could concern. */
  readonly isWaiting: () => boolean;
}

/** Connects a policy to the world: tells it events, does what it decides, and asks for the turns and times that it wants. */
export class PolicyDriver<Event, Action> {
  readonly #options: PolicyDriverOptions<Event, Action>;
  /** What is left to do; more than the current action while one leads to further events. */
  readonly #actions: Action[] = [];
  #isActing = false;
  #isTurnAsked = false;
  #timer: Timer | undefined;
  #armedMicros = Number.POSITIVE_INFINITY;
  readonly #turnOver = () => {
    this.#isTurnAsked = false;
    this.tell({ type: 'turn-end', nowMicros: this.#options.clock.nowMicros() });
  };
  readonly #timeUp = () => {
    this.#armedMicros = Number.POSITIVE_INFINITY;
    this.tell({ type: 'timer', nowMicros: this.#options.clock.nowMicros() });
  };

  constructor(options: PolicyDriverOptions<Event, Action>) {
    this.#options = options;
  }

  /** Whether everything decided was done. */
  get isIdle(): boolean {
    return this.#actions.length === 0;
  }

  tell(event: Event | TimedEvent): void {
    for (const action of this.#options.policy.decide(event)) this.#actions.push(action);
    this.arm();
    // An action that answers a request may lead back here; what follows from that comes after what was decided before.
    if (!this.#isActing) this.#act();
  }

  /** Asks for the events that the policy wants. A timer that is early is left to fire: the policy then does nothing. */
  arm(): void {
    const { afterTurn, clock, isWaiting, policy } = this.#options;
    if (policy.wantsTurnEnd && !this.#isTurnAsked) {
      this.#isTurnAsked = true;
      afterTurn(this.#turnOver);
    }
    const { wakeMicros } = policy;
    if (wakeMicros >= this.#armedMicros && isWaiting()) return;
    if (wakeMicros === this.#armedMicros) return;
    this.#timer?.cancel();
    this.#armedMicros = wakeMicros;
    this.#timer = wakeMicros === Number.POSITIVE_INFINITY ? undefined : clock.at(wakeMicros, this.#timeUp);
  }

  #act(): void {
    this.#isActing = true;
    let done = 0;
    try {
      for (let action = this.#actions[0]; action !== undefined; action = this.#actions[done]) {
        done++;
        this.#options.perform(action);
      }
    } finally {
      this.#actions.splice(0, done);
      this.#isActing = false;
    }
    this.#options.acted();
  }
}
