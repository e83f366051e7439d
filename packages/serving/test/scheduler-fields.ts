/** What a field of a scheduler's configuration does: one history, played with the field and without. A field that is ignored gives the same twice. */
import { decodeBytes, type InferenceRequest, type Tensor } from '@nereid/core';
import { modelConfigType } from '@nereid/model-config';
import { addSub, FakeBackend, ManualClock, RecordingResponder, valuesOf } from '@nereid/testing';
import { expect } from 'vitest';
import { ADD_SUB, addSubRequest, loaded, type ServeOptions } from './fixture.ts';

type SentRequest = NonNullable<Parameters<typeof addSubRequest>[0]> & { readonly id: string };

/** A request by its id; `slow` takes four times as long. A number lets so many microseconds pass. */
export type Step = string | number | SentRequest;

interface Outcome {
  /** Ids by batch, in the order in which the batches ran; `-` for padding. */
  readonly batches: readonly string[];
  /** `id` or `id CODE`, in the order of the answers. */
  readonly answers: readonly string[];
  /** `id: NAME DATATYPE value …` of each request that ran with control tensors. */
  readonly controls: readonly string[];
  /** `id` of each request that ran with a state. */
  readonly states: readonly string[];
  /** `id at MICROSECONDS` of each request that ran. */
  readonly starts: readonly string[];
  /** Instance of each batch. */
  readonly instances: readonly string[];
}

export interface FieldRow {
  /** As the protobuf schema names it. */
  readonly field: string;
  readonly set: string;
  readonly unset: string;
  /** Of the engine; its defaults apply. */
  readonly options?: ServeOptions;
  readonly steps: readonly Step[];
  readonly seen: keyof Outcome;
  readonly whenSet: readonly string[];
  readonly whenUnset: readonly string[];
}

/** Serves the add-sub model with this in its configuration, each of whose executions takes a millisecond. */
export async function play(config: string, steps: readonly Step[], options: ServeOptions = {}): Promise<Outcome> {
  const clock = new ManualClock();
  const serviceMicros = ([first]: readonly InferenceRequest[]) => (first?.id === 'slow' ? 4000 : 1000);
  const backend = new FakeBackend({ compute: addSub(), serviceMicros, clock });
  const tree = { 'good/config.pbtxt': ADD_SUB + config, 'good/1/model.fake': '' };
  await using model = await loaded(tree, { ...options, clock, backend });
  expect(model.engine.isModelReady('good'), model.log.lines.join('\n')).toBe(true);
  expect(model.log.at('warn')).toEqual([]);
  const responder = new RecordingResponder();
  for (const step of [...steps, 20_000]) {
    if (typeof step === 'number') await clock.elapse(step);
    else model.engine.infer(addSubRequest({ responder, ...(typeof step === 'string' ? { id: step } : step) }));
  }
  const ran = backend.batches.flatMap(({ requests }) => requests).filter(({ turn }) => turn?.isPadding !== true);
  return {
    batches: backend.batches.map(({ requests }) => requests.map(({ id }) => id || '-').join()),
    answers: responder.answers.map(({ request, error }) => (error ? `${request.id} ${error.code}` : request.id)),
    controls: ran.map(({ id, turn }) => [`${id}:`, ...(turn?.controls ?? []).map(controlText)].join(' ')),
    states: ran.filter(({ turn }) => turn?.state !== undefined).map(({ id }) => id),
    starts: ran.map(({ id, dispatchedMicros }) => `${id} at ${dispatchedMicros}`),
    instances: backend.batches.map(({ instance }) => instance),
  };
}

function controlText(control: Tensor): string {
  const { name, datatype, data } = control;
  const values =
    datatype === 'BYTES' ? decodeBytes(data).map((bytes) => Buffer.from(bytes).toString()) : valuesOf(control);
  return `${name} ${datatype} ${values.join()}`;
}

/** Plays a row both ways. */
export async function expectEffect({ set, unset, steps, options, seen, whenSet, whenUnset }: FieldRow): Promise<void> {
  expect((await play(set, steps, options))[seen]).toEqual(whenSet);
  expect((await play(unset, steps, options))[seen]).toEqual(whenUnset);
  expect(whenSet).not.toEqual(whenUnset);
}

/** `Message.field` for every field of a message of the schema, e.g. `ModelSequenceBatching.State`. */
export function fieldsOf(message: string): string[] {
  const { fieldsArray, name } = modelConfigType().root.lookupType(`inference.${message}`);
  return fieldsArray.map((field) => `${name}.${field.name}`);
}
