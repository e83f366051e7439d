import { addSub, FakeBackend, ManualClock, RecordingResponder } from '@nereid/testing';
import { expect, it } from 'vitest';
import { ADD_SUB, addSubRequest, GOOD, loaded, serve } from './fixture.ts';

const slow = (clock: ManualClock) => new FakeBackend({ compute: addSub(), serviceMicros: 400_000, clock });

it('stop answers what was accepted, refuses the rest, and then unloads', async () => {
  const clock = new ManualClock();
  await using served = await loaded(GOOD, { clock, backend: slow(clock) });
  const { engine, backend } = served;
  const responder = new RecordingResponder();
  const accepted = Array.from({ length: 3 }, (_, i) => addSubRequest({ responder, id: `${i}` }));
  for (const request of accepted) engine.infer(request);

  const stopped = engine.stop();
  expect([engine.isLive(), engine.isReady(), engine.isModelReady('good')]).toEqual([false, false, false]);
  const late = addSubRequest({ responder, id: 'late' });
  engine.infer(late);
  expect((await responder.finalOf(late)).error).toMatchObject({ code: 'UNAVAILABLE', reason: 'stopping' });
  expect(() => engine.modelMetadata('good')).toThrow('Server exiting');
  expect(engine.index()).toEqual([{ name: 'good', version: '1', state: 'UNLOADING' }]);
  expect([...engine.eachStatistics()]).toMatchObject([{ name: 'good', pending: 2, executing: 1 }]);

  await clock.elapse(1_500_000);
  expect(await stopped).toEqual({ isComplete: true, left: [] });
  expect([...engine.eachStatistics()]).toEqual([]);
  for (const request of accepted) expect((await responder.finalOf(request)).response).toBeDefined();
  expect([backend.instanceCount, backend.loadedModels]).toEqual([0, []]);
  expect(engine.index()).toEqual([{ name: 'good', version: '1', state: 'UNAVAILABLE', reason: 'unloaded' }]);
});

it('stop gives up at its deadline and tells what was left, with one line a second meanwhile', async () => {
  const clock = new ManualClock();
  const backend = new FakeBackend({ compute: addSub(), serviceMicros: 10_000_000, clock });
  await using served = await loaded(GOOD, { clock, backend });
  const { engine, log } = served;
  engine.infer(addSubRequest());
  engine.infer(addSubRequest());

  const stopped = engine.stop({ timeoutMs: 2500 });
  await clock.elapse(2_500_000);
  expect(await stopped).toEqual({
    isComplete: false,
    left: [{ name: 'good', version: '1', state: 'UNLOADING', inFlight: 2 }],
  });
  expect(log.at('info').filter((line) => line.startsWith('Timeout'))).toEqual([
    'Timeout 2: Found 1 model versions that have in-flight inferences',
    'Timeout 1: Found 1 model versions that have in-flight inferences',
  ]);
  expect(log.at('error')).toEqual(['Exit timeout expired: not everything was done within 2500 ms']);
  expect(clock.pending).toBe(1);
  await clock.elapse(30_000_000);
});

it('stop during a load waits for the version that is loading, unloads it, and begins no other', async () => {
  const backend = new FakeBackend({ compute: addSub() });
  const load = backend.load.bind(backend);
  let begin = (): void => {};
  let release = (): void => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  backend.load = async (context) => {
    begin();
    await gate;
    return load(context);
  };
  const tree = { ...GOOD, 'later/config.pbtxt': ADD_SUB, 'later/1/model.fake': '' };
  await using served = serve(tree, { backend, modelLoadConcurrency: 1 });
  const loading = served.engine.load();
  await begun;
  const stopped = served.engine.stop();
  release();
  await loading;
  expect(await stopped).toEqual({ isComplete: true, left: [] });
  expect(backend.loadedModels).toEqual([]);
  expect(served.engine.index()).toMatchObject([
    { name: 'good', state: 'UNAVAILABLE', reason: 'unloaded' },
    { name: 'later', state: 'UNAVAILABLE', reason: 'not loaded: the server is stopping' },
  ]);
  expect(served.engine.isLive()).toBe(false);
});

it('stop before load leaves nothing to load', async () => {
  await using served = serve(GOOD);
  expect(await served.engine.stop()).toEqual({ isComplete: true, left: [] });
  expect(await served.engine.load()).toMatchObject({ isComplete: false, error: { reason: 'stopping' } });
});

it('an instance or model that fails to close does not keep the others open', async () => {
  const closed: string[] = [];
  const close = (name: string) => async (): Promise<void> => {
    closed.push(name);
    throw new Error(`${name} does not close`);
  };
  const config = `${ADD_SUB}instance_group { count: 2 }\n`;
  await using served = await loaded(
    { 'good/config.pbtxt': config, 'good/1/model.fake': '' },
    {
      backends: [
        {
          name: 'fake',
          load: async () => ({
            createInstance: async ({ spec }) => ({
              name: spec.name,
              capacity: 1,
              execute: async () => {},
              close: close(spec.name),
            }),
            close: close('model'),
          }),
        },
      ],
    },
  );
  expect((await served.engine.stop()).isComplete).toBe(true);
  expect(closed).toEqual(['good_0_0', 'good_0_1', 'model']);
  expect(served.log.at('error')).toEqual(closed.map((name) => `unloading 'good': ${name} does not close`));
});
