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

/**
 * The time of the process, with any number of timers on one alarm: the loop sleeps until a timer is due, and wakes for it to within what the alarm does.
 *
 * Arming and cancelling cost logarithmic time, and the alarm is only set for a deadline earlier than the one it stands at. Timers fire in the order of their deadlines, equal
 * ones in the order they were armed, never early. Armed timers keep the process alive.
 */
export class AlarmClock implements Clock {
  readonly #alarm: Alarm;
  readonly #timers = new DeadlineHeap<AlarmTimer>((timer) => timer.state === 'waiting');
  /** Taken off the heap to be fired, in this order. */
  readonly #due: AlarmTimer[] = [];
  #waiting = 0;
  #armed = 0;
  #alarmMicros = Number.POSITIVE_INFINITY;
  #isClosed = false;

  /** @param openAlarm  makes the alarm with what it calls; it is closed with the clock */
  constructor(openAlarm: (onDue: () => void) => Alarm) {
    this.#alarm = openAlarm(() => this.#wake());
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
    this.#alarm.set(deadlineMicros - this.nowMicros());
  }

  #clearAlarm(): void {
    if (this.#isClosed || this.#alarmMicros === Number.POSITIVE_INFINITY) return;
    this.#alarmMicros = Number.POSITIVE_INFINITY;
    this.#alarm.clear();
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
