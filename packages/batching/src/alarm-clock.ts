import { performance } from 'node:perf_hooks';
import type { Clock, Timer } from '@nereid/core';
import { DeadlineHeap, type Timed } from './deadline-heap.ts';

/** A wake-up at one deadline, finer than `setTimeout`: `openAlarm` of `@nereid/native`, or the like. */
export interface Alarm {
  /** Calls back once, in a turn of its own, so many microseconds from now, in place of what was set before. Keeps the process alive until then. */
  set(delayMicros: number): void;
  /** Takes the wake-up back; one that is on its way may still come. */
  clear(): void;
  close(): void;
}

/** In the last so much time before a deadline the loop turns, once it is up. */
const LONGEST_LEAD_MICROS = 150;
/** Alarms that are to be late by no more than the lead. */
const IN_TIME = 0.9;
/** By how much one alarm may change the lead. */
const STEP_MICROS = 4;

/**
 * The time of the process, with any number of timers on one alarm: the loop sleeps until a timer is due.
 *
 * An alarm wakes the loop late by the way from its thread. It is set earlier by what nine in ten are late by at most, as measured, and by no more than 150 us; a loop
 * that is up before the deadline turns until then. So nine timers in ten are late by a turn, and the others by what is beyond that.
 *
 * Arming and cancelling cost logarithmic time, and the alarm is only set for a deadline earlier than the one it stands at. Timers fire in the order of
 * their deadlines, equal ones in the order they were armed, never early. Armed timers keep the process alive.
 */
export class AlarmClock implements Clock {
  readonly #alarm: Alarm;
  readonly #timers = new DeadlineHeap<AlarmTimer>((timer) => timer.state === 'waiting');
  /** Taken off the heap to be fired, in this order. */
  readonly #due: AlarmTimer[] = [];
  #waiting = 0;
  #armed = 0;
  /** The deadline that the loop will be up for. */
  #alarmMicros = Number.POSITIVE_INFINITY;
  /** When the alarm is to ring. */
  #ringMicros = Number.POSITIVE_INFINITY;
  #leadMicros = 0;
  #turn: NodeJS.Immediate | undefined;
  #isClosed = false;

  /** @param openAlarm  makes the alarm with what it calls; it is closed with the clock */
  constructor(openAlarm: (onDue: () => void) => Alarm) {
    this.#alarm = openAlarm(() => this.#ring());
  }

  nowMicros(): number {
    return performance.now() * 1000;
  }

  at(deadlineMicros: number, callback: () => void): Timer {
    const timer = new AlarmTimer({ deadlineMicros, order: this.#armed++, callback, onCancel: this.#onCancel });
    this.#timers.push(timer);
    this.#waiting++;
    this.#setAlarm(deadlineMicros);
    return timer;
  }

  /** Timers that wait never fire, nor do those armed later. Idempotent. */
  close(): void {
    this.#isClosed = true;
    clearImmediate(this.#turn);
    this.#alarm.close();
  }

  readonly #onCancel = () => {
    this.#timers.noteGone();
    this.#waiting--;
    // Of several, the next may come too soon: it then looks at the time and sets the alarm anew.
    if (this.#waiting === 0) this.#clearAlarm();
  };

  #setAlarm(deadlineMicros: number): void {
    if (this.#isClosed || deadlineMicros >= this.#alarmMicros) return;
    this.#alarmMicros = deadlineMicros;
    const now = this.nowMicros();
    if (deadlineMicros - now <= LONGEST_LEAD_MICROS) this.#turn ??= setImmediate(this.#onTurn);
    else {
      this.#ringMicros = deadlineMicros - this.#leadMicros;
      this.#alarm.set(this.#ringMicros - now);
    }
  }

  #clearAlarm(): void {
    if (this.#isClosed || this.#alarmMicros === Number.POSITIVE_INFINITY) return;
    this.#alarmMicros = Number.POSITIVE_INFINITY;
    clearImmediate(this.#turn);
    this.#turn = undefined;
    this.#alarm.clear();
  }

  readonly #onTurn = () => {
    this.#turn = undefined;
    this.#wake();
  };

  #ring(): void {
    const lateMicros = this.nowMicros() - this.#ringMicros;
    // It may also be one that was replaced or taken back.
    if (lateMicros >= 0) this.#learn(lateMicros);
    this.#ringMicros = Number.POSITIVE_INFINITY;
    this.#wake();
  }

  /** Follows a quantile of the lateness: in balance where so many alarms are later that their steps up outweigh the others' down. */
  #learn(lateMicros: number): void {
    const step = lateMicros > this.#leadMicros ? IN_TIME * STEP_MICROS : (IN_TIME - 1) * STEP_MICROS;
    this.#leadMicros = Math.min(Math.max(this.#leadMicros + step, 0), LONGEST_LEAD_MICROS);
  }

  #wake(): void {
    this.#alarmMicros = Number.POSITIVE_INFINITY;
    this.#takeDue(this.nowMicros());
    let fired = 0;
    try {
      for (const timer of this.#due) {
        fired++;
        timer.fire();
      }
    } finally {
      this.#due.splice(0, fired);
      this.#setNext();
    }
  }

  /** What callbacks arm waits for another wake-up, so none keeps the loop for itself. */
  #takeDue(nowMicros: number): void {
    for (let top = this.#timers.peek(); top !== undefined; top = this.#timers.peek()) {
      if (top.deadlineMicros > nowMicros) return;
      this.#timers.pop();
      this.#waiting--;
      top.state = 'due';
      this.#due.push(top);
    }
  }

  #setNext(): void {
    // Something is left when a callback threw.
    const next = this.#due[0] ?? this.#timers.peek();
    if (next !== undefined) this.#setAlarm(next.deadlineMicros);
  }
}

interface AlarmTimerInit extends Timed {
  readonly callback: () => void;
  /** Told when it is cancelled while it waits. */
  readonly onCancel: () => void;
}

class AlarmTimer implements Timer, Timed {
  readonly deadlineMicros: number;
  readonly order: number;
  state: 'waiting' | 'due' | 'over' = 'waiting';
  readonly #callback: () => void;
  readonly #onCancel: () => void;

  constructor({ deadlineMicros, order, callback, onCancel }: AlarmTimerInit) {
    this.deadlineMicros = deadlineMicros;
    this.order = order;
    this.#callback = callback;
    this.#onCancel = onCancel;
  }

  cancel(): void {
    const { state } = this;
    this.state = 'over';
    if (state === 'waiting') this.#onCancel();
  }

  fire(): void {
    if (this.state === 'over') return;
    this.state = 'over';
    this.#callback();
  }
}
