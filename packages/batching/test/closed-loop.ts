/** Clients that send again when they are answered, an event loop that takes its time for each, and model instances, in virtual time. */
import { batchRules } from '../src/batch-plan.ts';
import { type DynamicBatching, PriorityLevels } from '../src/dynamic-batching.ts';
import { type BatchableRequest, type DynamicEvent, DynamicPolicy } from '../src/dynamic-policy.ts';

export interface ClosedLoopOptions {
  readonly clients: number;
  /** Microseconds that the instance takes for a batch of so many rows. */
  readonly modelMicros: (rows: number, batch: number) => number;
  /** Microseconds that the event loop takes to read a request, and as many to write an answer. */
  readonly loopMicros: number;
  /** Clients send at multiples of so many microseconds, together; as soon as they are answered by default. */
  readonly everyMicros?: number;
  readonly batches: number;
  /** Clients that are left after so many batches; all by default. */
  readonly leaving?: { readonly afterBatches: number; readonly clients: number };
  readonly maxBatchSize?: number;
  readonly dynamicBatching?: DynamicBatching;
  readonly instances?: number;
  readonly doubleBuffering: boolean;
}

interface Instance {
  load: number;
  readonly capacity: number;
  freeMicros: number;
}

interface Batch {
  readonly requests: readonly BatchableRequest[];
  readonly instance: Instance;
  readonly reason: string;
  readonly computeMicros: number;
  readonly startMicros: number;
  readonly endMicros: number;
}

/** An empty turn of the event loop. */
const TURN_MICROS = 4;
const REGROUP_TURNS = 6;

/**
 * Runs until so many batches were sent. Nothing may be lost on the way: a client that gets no answer ends the run with an error.
 * @returns sizes of the batches and why they were closed, in the order in which they were sent, and answers per millisecond
 */
export function closedLoop(options: ClosedLoopOptions) {
  const { clients, modelMicros, loopMicros, everyMicros = 1, leaving, maxBatchSize = 64 } = options;
  const { dynamicBatching = {}, doubleBuffering, instances: count = 1 } = options;
  const instances = Array.from({ length: count }, (): Instance => ({ load: 0, capacity: 2, freeMicros: 0 }));
  const policy = new DynamicPolicy<BatchableRequest, Instance>({
    instances,
    rules: batchRules(dynamicBatching, { maxBatchSize, canJoin: () => true }),
    levels: new PriorityLevels(dynamicBatching),
    maxQueueSize: 0,
    regroupTurns: REGROUP_TURNS,
    doubleBuffering,
  });
  const batches: Batch[] = [];
  const running: Batch[] = [];
  /** When requests come, ascending. */
  let coming = new Array<number>(clients).fill(0);
  let surplus = 0;
  let nowMicros = 0;
  let answered = 0;

  const tell = (event: DynamicEvent<BatchableRequest, Instance>): void => {
    for (const action of policy.decide(event)) {
      if (action.type === 'reject') throw new Error(`rejected: ${action.reason}`);
      if (action.type !== 'dispatch') continue;
      const { batch: requests, instance, reason } = action;
      const computeMicros = modelMicros(requests.length, batches.length);
      instance.freeMicros = Math.max(nowMicros, instance.freeMicros) + computeMicros;
      const batch = {
        requests,
        instance,
        reason,
        computeMicros,
        startMicros: nowMicros,
        endMicros: instance.freeMicros,
      };
      batches.push(batch);
      running.push(batch);
      if (batches.length === leaving?.afterBatches) surplus = clients - leaving.clients;
    }
  };

  const answer = ({ requests, instance, computeMicros, startMicros }: Batch): void => {
    for (const _ of requests) {
      nowMicros += loopMicros;
      answered++;
      if (surplus > 0) surplus--;
      else coming.push(Math.ceil(nowMicros / everyMicros) * everyMicros);
    }
    const rows = requests.length;
    const finished = { requests: rows, rows, computeMicros, ranMicros: nowMicros - startMicros };
    tell({ type: 'slots-free', instance, slots: 1, finished, nowMicros });
  };

  while (batches.length < options.batches) {
    const due = running.filter(({ endMicros }) => endMicros <= nowMicros);
    for (const batch of due) {
      running.splice(running.indexOf(batch), 1);
      answer(batch);
    }
    const arrivals = coming.filter((atMicros) => atMicros <= nowMicros).length;
    coming = coming.filter((atMicros) => atMicros > nowMicros);
    for (let i = 0; i < arrivals; i++) {
      nowMicros += loopMicros;
      tell({ type: 'arrival', request: request(), exclusive: false, nowMicros });
    }
    if (policy.wantsTurnEnd) {
      nowMicros += TURN_MICROS;
      tell({ type: 'turn-end', nowMicros });
    } else if (due.length + arrivals === 0) {
      const next = Math.min(...coming, ...running.map(({ endMicros }) => endMicros));
      if (next === Number.POSITIVE_INFINITY) throw new Error(`${policy.queued} requests wait for nothing`);
      nowMicros = next;
    }
  }
  return {
    sizes: batches.map(({ requests }) => requests.length),
    reasons: batches.map(({ reason }) => reason),
    speed: (answered / nowMicros) * 1000,
  };
}

const request = (): BatchableRequest => ({ priority: 0, timeoutMicroseconds: 0, batchSize: 1, isCancelled: false });
