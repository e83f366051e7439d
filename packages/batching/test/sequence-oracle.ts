/**
 * What must come of every request to a sequence model, told from what was sent and when: a few rules over correlation IDs, without slots or batches. It
 * hears of every batch and answer as it happens, and `check` throws the first thing that was not as it must be.
 */
import type { InferenceRequest, InferenceResponse, InferenceServerError, SequenceState } from '@nereid/core';
import { RecordingResponder, valuesOf } from '@nereid/testing';
import type { SendOptions, SequenceFixture } from './sequence-fixture.ts';

interface Sent {
  readonly request: InferenceRequest;
  readonly value: number;
  readonly sequence: ExpectedSequence;
  readonly deadlineMicros: number;
  isDispatched: boolean;
  isAnswered: boolean;
}

interface ExpectedSequence {
  readonly id: number;
  readonly requests: Sent[];
  /** No more requests are taken. */
  isClosed: boolean;
  /** When its last request was answered. */
  idleSinceMicros: number;
  sum: number;
  /** Instance and row, for the Direct strategy. */
  place: string | undefined;
}

export interface OracleOptions {
  readonly idleMicros: number;
  readonly isDirect: boolean;
  readonly maxBatchSize: number;
}

export class SequenceOracle extends RecordingResponder {
  readonly #options: OracleOptions;
  readonly #open = new Map<number, ExpectedSequence>();
  /** Requests that have no answer. */
  readonly #sent = new Map<InferenceRequest, Sent>();
  readonly #running = new Map<number, Sent>();
  readonly #places = new Map<string, ExpectedSequence>();
  readonly #states = new Map<SequenceState, ExpectedSequence | undefined>();
  readonly #faults: string[] = [];
  /** To be set before anything is sent. */
  fixture: SequenceFixture | undefined;
  isStopping = false;

  constructor(options: OracleOptions) {
    super();
    this.#options = options;
  }

  get #now(): number {
    return this.fixture?.clock.nowMicros() ?? Number.NaN;
  }

  /** Requests that could be cancelled. */
  get waiting(): readonly Sent[] {
    return [...this.#sent.values()].filter(({ isDispatched }) => !isDispatched);
  }

  send(id: number, value: number, options: SendOptions): void {
    const { fixture } = this;
    if (fixture === undefined) return;
    const open = this.#openFor(id);
    const { start = false, end = false, timeoutMicroseconds = 0 } = options;
    if (start ? this.isStopping : open === undefined) {
      fixture.send(id, value, options);
      const code = start ? 'UNAVAILABLE' : 'INVALID_ARG';
      this.#must(this.answers.at(-1)?.error?.code === code, `refuse a request of ${id} with ${code}`);
      return;
    }
    if (start && open !== undefined) open.isClosed = true;
    const sequence = start || open === undefined ? newSequence(id) : open;
    this.#open.set(id, sequence);
    const deadlineMicros = timeoutMicroseconds > 0 ? this.#now + timeoutMicroseconds : Number.POSITIVE_INFINITY;
    const request = fixture.prepare(id, value, options);
    const sent = { request, value, sequence, deadlineMicros, isDispatched: false, isAnswered: false };
    sequence.requests.push(sent);
    this.#sent.set(request, sent);
    fixture.scheduler.enqueue(request);
    if (end) this.#close(sequence);
  }

  /** Cancels a request that waits; it and those behind it in its sequence are to be answered within the call. */
  cancel(sent: Sent): void {
    const { sequence } = sent;
    const mayTakeAll = sequence.requests.every(({ isDispatched }) => !isDispatched);
    const from = sequence.requests.indexOf(sent);
    const earlier = sequence.requests.slice(0, from).filter(({ isAnswered }) => !isAnswered);
    this.#close(sequence);
    sent.request.cancel();
    for (const { isAnswered } of sequence.requests.slice(from)) this.#must(isAnswered, 'cancel all behind a request');
    this.#must(mayTakeAll || earlier.every(({ isAnswered }) => !isAnswered), 'cancel none before a cancelled one');
  }

  /** To be called when a batch begins. */
  began(requests: readonly InferenceRequest[]): void {
    const { isDirect, maxBatchSize } = this.#options;
    this.#must(requests.length <= Math.max(1, maxBatchSize), 'keep to the batch size');
    for (const [row, request] of requests.entries()) {
      const state = request.turn?.state;
      const sent = this.#sent.get(request);
      if (sent !== undefined) this.#ran(sent, `${request.batch?.instance} ${row}`);
      else {
        this.#must(isDirect && request.turn?.isPadding === true, 'run no request that was not sent');
        this.#must(state !== undefined && !this.#states.has(state), 'pad with a state of its own');
        if (state !== undefined) this.#states.set(state, undefined);
      }
    }
  }

  override respond(request: InferenceRequest, response: InferenceResponse | undefined, final: boolean): void {
    super.respond(request, response, final);
    const sent = this.#sent.get(request);
    if (sent === undefined) return;
    const { sequence, value } = sent;
    this.#answered(sent);
    const [output] = response?.outputs ?? [];
    sequence.sum = (request.sequenceStart ? 0 : sequence.sum) + value;
    this.#must(Object.is(output && valuesOf(output)[0], sequence.sum), `answer ${sequence.id} with ${sequence.sum}`);
  }

  override fail(request: InferenceRequest, error: InferenceServerError): void {
    super.fail(request, error);
    const sent = this.#sent.get(request);
    if (sent === undefined) return;
    this.#answered(sent);
    if (error.code === 'UNAVAILABLE') this.#timedOut(sent);
    else if (error.code === 'CANCELLED') this.#must(sent.sequence.isClosed, 'cancel only what was cancelled');
    else this.#must(error.code === 'INTERNAL' && sent.isDispatched, `not fail with ${error.message}`);
  }

  /** @throws {Error} the first fault */
  check(): void {
    const [fault] = this.#faults;
    if (fault !== undefined) throw new Error(`the scheduler must ${fault}`);
  }

  /** To be called when the scheduler has stopped. */
  finish(): void {
    this.#must(this.#sent.size === 0, `answer every request; ${this.#sent.size} wait`);
    for (const state of this.#states.keys()) this.#must(state.held === undefined, 'release every state');
    const { clock, scheduler } = this.fixture ?? {};
    const left = [scheduler?.queued, scheduler?.executing, clock?.pending];
    this.#must(left.join() === '0,0,0', `leave nothing behind, not ${left.join()} queued, executing and timers`);
  }

  /** The sequence that takes a request without START now. */
  #openFor(id: number): ExpectedSequence | undefined {
    const sequence = this.#open.get(id);
    if (sequence === undefined || sequence.isClosed) return undefined;
    const isIdle = sequence.requests.every(({ isAnswered }) => isAnswered);
    const isExpired = isIdle && this.#now >= sequence.idleSinceMicros + this.#options.idleMicros;
    if (isExpired) this.#close(sequence);
    return isExpired ? undefined : sequence;
  }

  #close(sequence: ExpectedSequence): void {
    sequence.isClosed = true;
    if (this.#open.get(sequence.id) === sequence) this.#open.delete(sequence.id);
  }

  #ran(sent: Sent, place: string): void {
    const { sequence, request } = sent;
    const next = sequence.requests.find(({ isAnswered }) => !isAnswered);
    this.#must(next === sent && !sent.isDispatched, 'run requests of a sequence in order, each once');
    this.#must(!this.#running.has(sequence.id), 'run one request of a correlation ID at a time');
    sent.isDispatched = true;
    this.#running.set(sequence.id, sent);
    const state = request.turn?.state;
    if (state !== undefined) {
      this.#must(!this.#states.has(state) || this.#states.get(state) === sequence, 'share no state between sequences');
      this.#states.set(state, sequence);
    }
    if (!this.#options.isDirect) return;
    this.#must(sequence.place === undefined || sequence.place === place, 'keep a sequence in its slot');
    const other = this.#places.get(place);
    this.#must(other === undefined || other === sequence || isOver(other), 'share no slot between sequences');
    sequence.place = place;
    this.#places.set(place, sequence);
  }

  #answered(sent: Sent): void {
    const { sequence } = sent;
    sent.isAnswered = true;
    this.#sent.delete(sent.request);
    sequence.idleSinceMicros = this.#now;
    if (this.#running.get(sequence.id) === sent) this.#running.delete(sequence.id);
  }

  /** In the backlog: no request of the sequence ran, and the first of their deadlines has just come. */
  #timedOut({ sequence }: Sent): void {
    const deadline = Math.min(...sequence.requests.map(({ deadlineMicros }) => deadlineMicros));
    this.#must(
      sequence.requests.every(({ isDispatched }) => !isDispatched),
      'time out in the backlog only',
    );
    this.#must(this.#now >= deadline, 'time out when it is time');
    this.#close(sequence);
  }

  #must(holds: boolean, rule: string): void {
    if (!holds) this.#faults.push(rule);
  }
}

function newSequence(id: number): ExpectedSequence {
  return { id, requests: [], isClosed: false, idleSinceMicros: 0, sum: 0, place: undefined };
}

/** Whether its slot may have another: nothing of it is left to run. */
function isOver({ requests }: ExpectedSequence): boolean {
  return requests.every(({ isAnswered }) => isAnswered);
}
