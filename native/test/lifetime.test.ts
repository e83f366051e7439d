import { availableParallelism } from 'node:os';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { bytes, numbers, openAoti, openTorchScript, Runner, Session, vectors } from './support.ts';

const FEATURES = 64;
const mlpBatch = (value: number) => ({
  buffers: [bytes(...new Array(FEATURES).fill(value))],
  rows: [1],
  shapes: [2, 1, FEATURES],
});

test('close finishes what is queued, in order, and then refuses more', async () => {
  const model = await openTorchScript('slow');
  const runner = new Runner(model);
  const order: number[] = [];
  const runs = Array.from({ length: 20 }, (_, i) => runner.run(vectors(bytes(i % 2))).then(() => order.push(i)));
  const closed = runner.instance.close().then(() => order.push(-1));
  expect(() => runner.instance.execute(vectors(bytes(1)))).toThrow("model instance 'test' is closed");
  expect(() => runner.instance.executeSync(vectors(bytes(1)))).toThrow("model instance 'test' is closed");
  await Promise.all([...runs, closed]);
  expect(order).toEqual([...runs.keys(), -1]);
  await model.close();
});

test('close may be called again, before and after it is done', async () => {
  const model = await openTorchScript('double');
  const runner = new Runner(model);
  await Promise.all([runner.instance.close(), runner.instance.close()]);
  await runner.instance.close();
  await Promise.all([model.close(), model.close()]);
  await model.close();
});

test('a model is freed when its last instance is closed', async () => {
  const model = await openTorchScript('double');
  const [first, second] = [new Runner(model), new Runner(model)];
  let freed = false;
  const closed = model.close().then(() => {
    freed = true;
  });
  expect(() => new Runner(model)).toThrow('the model is closed');
  await first.instance.close();
  await turn();
  expect(freed).toBe(false);
  expect(numbers((await second.run(vectors(bytes(1)))).outputs[0])).toEqual([2]);
  await second.instance.close();
  await closed;
});

test('an instance keeps running while its model handle is unreachable', async () => {
  const runner = new Runner(await openTorchScript('double'));
  const held = Array.from({ length: 50 }, () => new Array(100_000).fill(0));
  await turn();
  expect(held).toHaveLength(50);
  expect(numbers((await runner.run(vectors(bytes(1)))).outputs[0])).toEqual([2]);
  await runner.instance.close();
});

test('the loop turns while a batch runs, and stands still in executeSync', async () => {
  await using session = await Session.torchScript('slow');
  let turns = 0;
  let running = true;
  const count = (): void => {
    if (!running) return;
    turns++;
    setImmediate(count);
  };
  count();
  await session.run(vectors(bytes(100)));
  expect(turns).toBeGreaterThan(20);
  await turn();
  turns = 0;
  session.instance.executeSync(vectors(bytes(5)));
  expect(turns).toBe(0);
  running = false;
});

test('instances of one package share it and run at once', async () => {
  const model = await openAoti('mlp', 2);
  await using first = new Runner(model, { batching: true });
  await using second = new Runner(model, { batching: true });
  const expected = numbers((await first.run(mlpBatch(1))).outputs[0]);
  const runs = Array.from({ length: 200 }, (_, i) => (i % 2 ? first : second).run(mlpBatch(1)));
  for (const { outputs } of await Promise.all(runs)) expect(numbers(outputs[0])).toEqual(expected);
  await Promise.all([first.instance.close(), second.instance.close()]);
  await model.close();
});

test('many models are loaded and closed at once', async () => {
  const models = await Promise.all(Array.from({ length: 50 }, () => openTorchScript('double')));
  const runners = models.map((model) => new Runner(model));
  const outcomes = await Promise.all(runners.map((runner, i) => runner.run(vectors(bytes(i)))));
  expect(outcomes.map(({ outputs }) => numbers(outputs[0])[0])).toEqual(models.map((_, i) => 2 * i));
  await Promise.all([...runners.map(({ instance }) => instance.close()), ...models.map((model) => model.close())]);
});

test('many instances of many models answer their own callers', async () => {
  const models = await Promise.all([
    openTorchScript('double'),
    openTorchScript('identity'),
    openTorchScript('in_place'),
  ]);
  const answers = [(x: number) => 2 * x, (x: number) => x, (x: number) => x + 1];
  const runners = Array.from({ length: 3 * availableParallelism() }, (_, i) => ({
    runner: new Runner(models[i % 3] ?? expect.unreachable()),
    answer: answers[i % 3] ?? expect.unreachable(),
  }));
  const runs = runners.flatMap(({ runner, answer }) =>
    Array.from({ length: 200 }, async (_, x) => {
      const { outputs } = await runner.run(vectors(bytes(x)));
      return numbers(outputs[0])[0] === answer(x);
    }),
  );
  expect((await Promise.all(runs)).every(Boolean)).toBe(true);
  await Promise.all(runners.map(({ runner }) => runner.instance.close()));
  await Promise.all(models.map((model) => model.close()));
});

test('an instance that nobody closes does not keep the process alive', async () => {
  const runner = new Runner(await openTorchScript('double'));
  await runner.run(vectors(bytes(1)));
  // The worker of this test file ends although the thread of this instance waits for work.
  expect(runner.instance).toBeDefined();
});

test('inference mode is that of the instance, and a module is in evaluation however it was saved', async () => {
  for (const inferenceMode of [true, false]) {
    await using session = await Session.torchScript('mode', { inferenceMode });
    const { outputs } = await session.run(vectors(bytes(1)));
    expect(new BigInt64Array(outputs[0]?.data ?? new ArrayBuffer(0))[0]).toBe(inferenceMode ? 1n : 0n);
  }
  for (const [name, wasTraining] of [
    ['training', true],
    ['frozen', false],
  ] as const) {
    const model = await openTorchScript(name);
    expect(model.schema.wasTraining).toBe(wasTraining);
    await using runner = new Runner(model);
    expect(numbers((await runner.run(vectors(bytes(1, 2, 3, 4)))).outputs[0])).toEqual([1, 2, 3, 4]);
  }
});
