/** Whose turn it is among instances that want to run; see `RateLimiter`. */
import { giveBack, type Holding, isLeft, type ResourcePool, take } from './resource-pool.ts';

export class Turns {
  /** In the order of staging. */
  readonly #staged = new Set<LimitedInstance>();
  #level = 0;
  #isHeldBack = false;

  /** Where the instance stood that got the last turn. */
  get level(): number {
    return this.#level;
  }

  stage(instance: LimitedInstance): void {
    this.#staged.add(instance);
    this.#grant();
  }

  /** Gives back what the instance holds, to whoever is first in turn after `next`. */
  release(instance: LimitedInstance, next: () => void): void {
    giveBack(instance.holdings);
    this.#holdBack(next);
    this.#grant();
  }

  /** Forgets an instance that is not allocated. */
  drop(instance: LimitedInstance): void {
    this.#staged.delete(instance);
    this.#grant();
  }

  /** What is staged meanwhile waits for the end of it. */
  #holdBack(action: () => void): void {
    const isHeldBack = this.#isHeldBack;
    this.#isHeldBack = true;
    try {
      action();
    } finally {
      this.#isHeldBack = isHeldBack;
    }
  }

  #grant(): void {
    if (this.#isHeldBack) return;
    this.#holdBack(() => {
      for (let first = this.#first(); first !== undefined && isLeft(first.holdings); first = this.#first()) {
        this.#staged.delete(first);
        take(first.holdings);
        this.#level = first.level;
        first.start();
      }
    });
  }

  #first(): LimitedInstance | undefined {
    let first: LimitedInstance | undefined;
    for (const instance of this.#staged) if (first === undefined || instance.level < first.level) first = instance;
    return first;
  }
}

export interface LimitedInstanceInit {
  readonly turns: Turns;
  readonly pool: ResourcePool;
  readonly holdings: readonly Holding[];
  /** How far an execution moves it up. */
  readonly weight: number;
}

/** An instance at a rate limiter: it asks before each execution and tells when it is over. */
export class LimitedInstance {
  /** @internal What it holds while it runs. */
  readonly holdings: readonly Holding[];
  readonly #init: LimitedInstanceInit;
  #level = 0;
  #start: (() => void) | undefined;

  /** @internal `RateLimiter.register` makes it. */
  constructor(init: LimitedInstanceInit) {
    this.#init = init;
    this.holdings = init.holdings;
  }

  /** Of instances that want to run the one with the lowest level is first in turn. */
  get level(): number {
    // What is staged is never below; what was away starts level.
    return this.#start === undefined ? Math.max(this.#level, this.#init.turns.level) : this.#level;
  }

  /**
   * Asks for the turn of one execution. Only while neither staged nor allocated.
   * @param start  called once, when the resources are the instance's: within this call if it is its turn, else within that of another that gives back.
   *               Must not throw.
   */
  stage(start: () => void): void {
    this.#level = this.level;
    this.#start = start;
    this.#init.turns.stage(this);
  }

  /** @internal The turn has come. */
  start(): void {
    const start = this.#start;
    this.#start = undefined;
    this.#level += this.#init.weight;
    start?.();
  }

  /**
   * The execution is over.
   * @param next  called before the resources go to whoever is first in turn, so that the instance can be staged again among them. Must not throw.
   */
  release(next: () => void = () => {}): void {
    this.#init.turns.release(this, next);
  }

  /** Leaves the limiter, which then has only as many resources as the others demand. Not while it is allocated. */
  close(): void {
    const { pool, turns } = this.#init;
    pool.remove(this.holdings);
    turns.drop(this);
  }
}
