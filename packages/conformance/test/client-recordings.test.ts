/** The clients against the original's wire format: what they send is what was recorded, and what the original answered they can read. */
import { fileURLToPath } from 'node:url';
import {
  GrpcClient,
  HttpClient,
  type InferenceClient,
  type InferRequest,
  type InferResult,
  valuesOf,
} from '@nereid/client';
import { elements, type Tensor } from '@nereid/core';
import { describe, expect, test } from 'vitest';
import {
  decodeBody,
  type RecordedExchange,
  RecordedTransport,
  readRecorded,
  recorded,
  requestOf,
  serveRecorded,
  withBytes,
} from '../src/client-recordings.ts';
import { type GrpcExchange, readGrpcExchanges } from '../src/grpc-recording.ts';

const exchanges = readRecorded();
const url = 'http://original:8000';

/** Inferences that a client can state: a body without JSON is another call. */
const inferences = exchanges.filter(
  ({ path, headers, answer }) =>
    path.endsWith('/infer') &&
    answer.status === 200 &&
    !Object.entries(headers).some(([name, value]) => /^inference-header/i.test(name) && value === '0'),
);

interface RecordedOutput {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
  readonly parameters?: { readonly binary_data_size?: number };
  readonly data?: readonly unknown[];
}

/** The elements of an output as the recording writes them. */
function shown(output: Tensor): readonly unknown[] {
  if (output.datatype === 'BOOL') return Array.from(output.data, (value) => value === 1);
  const values: readonly unknown[] =
    output.datatype === 'BYTES' ? valuesOf({ ...output, datatype: 'BYTES' }) : [...elements(output)];
  return values.map((value) =>
    typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value,
  );
}

function expectRecorded(result: InferResult, { answer }: RecordedExchange): void {
  const {
    model_name,
    model_version,
    id = '',
    outputs,
  } = answer.json as {
    readonly model_name: string;
    readonly model_version: string;
    readonly id?: string;
    readonly outputs: readonly RecordedOutput[];
  };
  expect([result.modelName, result.modelVersion, result.id]).toEqual([model_name, model_version, id]);
  const binary = Buffer.from(answer.binary ?? '', 'base64');
  let offset = 0;
  for (const [i, expected] of outputs.entries()) {
    const { name, datatype, shape, data, parameters } = expected;
    const output = result.outputs[i];
    expect(output).toMatchObject({ name, datatype, shape });
    if (output === undefined) continue;
    if (data !== undefined) {
      expect(shown(output)).toEqual(data);
      continue;
    }
    const end = offset + (parameters?.binary_data_size ?? 0);
    expect(Buffer.compare(output.data, binary.subarray(offset, end))).toBe(0);
    offset = end;
  }
  expect(result.outputs).toHaveLength(outputs.length);
}

describe('inferences over HTTP', () => {
  test.each(inferences.map((exchange) => [exchange.name, exchange] as const))('%s', async (_, exchange) => {
    const { path, headers, body } = exchange;
    const original = decodeBody(path, headers, Buffer.from(body ?? '', 'base64'));
    const transport = new RecordedTransport([exchange]);
    const result = await new HttpClient({ url, transport }).infer(requestOf(original));
    const [sent] = transport.sent;
    const ours = decodeBody(path, sent?.headers ?? {}, Buffer.concat(sent?.body ?? []));
    expect(requestOf(ours)).toEqual(requestOf(original));
    expectRecorded(result, exchange);
  });

  test('are most of those that were recorded', () => {
    expect(inferences.length).toBeGreaterThan(70);
  });
});

describe('other calls over HTTP', () => {
  test.each<[path: string, call: (client: HttpClient) => Promise<unknown>, expected?: (json: never) => unknown]>([
    ['/v2/health/live', (client) => client.isServerLive(), () => true],
    ['/v2/health/ready', (client) => client.isServerReady(), () => true],
    [
      '/v2/models/addsub/versions/3/ready',
      (client) => client.isModelReady({ model: 'addsub', version: '3' }),
      () => true,
    ],
    [
      '/v2/models/addsub/versions/2/ready',
      (client) => client.isModelReady({ model: 'addsub', version: '2' }),
      () => false,
    ],
    ['/v2/models/nosuch/ready', (client) => client.isModelReady('nosuch'), () => false],
    ['/v2', (client) => client.serverMetadata()],
    ['/v2/models/addsub', (client) => client.modelMetadata('addsub')],
    ['/v2/models/addsub/versions/1', (client) => client.modelMetadata({ model: 'addsub', version: '1' })],
    ['/v2/models/running/config', (client) => client.modelConfig('running')],
    ['/v2/systemsharedmemory/status', (client) => client.systemSharedMemoryStatus()],
    ['/v2/cudasharedmemory/status', (client) => client.cudaSharedMemoryStatus()],
    ['/v2/repository/index', (client) => client.repositoryIndex()],
    ['/v2/logging', (client) => client.logSettings()],
  ])('%s', async (path, call, expected = (json) => json) => {
    const exchange = exchanges.find((candidate) => candidate.path === path);
    const transport = new RecordedTransport(exchanges);
    expect(await call(new HttpClient({ url, transport }))).toEqual(expected(exchange?.answer.json as never));
  });
});

const calls = readGrpcExchanges(fileURLToPath(new URL('../golden/grpc.jsonl', import.meta.url)));

interface RecordedRequest {
  readonly model_name?: string;
  readonly model_version?: string;
  readonly id?: string;
  readonly inputs?: readonly {
    readonly name: string;
    readonly datatype: string;
    readonly shape: readonly number[];
    readonly contents?: object;
    readonly parameters?: object;
  }[];
  readonly outputs?: readonly { readonly name: string; readonly parameters?: Readonly<Record<string, object>> }[];
  readonly raw_input_contents?: readonly Uint8Array[];
  readonly parameters?: Readonly<Record<string, object>>;
}

const ownValue = (parameter: object | undefined): unknown => Object.values(parameter ?? {})[0];

/** The call of a client that says what was recorded; inputs have raw contents. */
function grpcRequest(message: RecordedRequest): InferRequest {
  const { model_name = '', model_version = '', id = '', inputs = [], outputs = [], raw_input_contents = [] } = message;
  return {
    model: model_name,
    version: model_version,
    id,
    inputs: inputs.map(({ name, datatype, shape }, i) => ({
      name,
      datatype: datatype as Tensor['datatype'],
      shape: shape.map(Number),
      data: raw_input_contents[i] ?? new Uint8Array(),
    })),
    outputs: outputs.map(({ name, parameters }) => {
      const classes = ownValue(parameters?.classification);
      return classes === undefined ? name : { name, classes: Number(classes) };
    }),
    parameters: Object.fromEntries(
      Object.entries(message.parameters ?? {}).map(([key, value]) => [key, ownValue(value) as string]),
    ),
  };
}

/** What a client states: raw contents, one of them for each input. */
const isPlain = ({ inputs = [], raw_input_contents = [] }: RecordedRequest) =>
  inputs.every(({ contents, parameters }) => !contents && !parameters) && raw_input_contents.length === inputs.length;
const isStated = ({ rpc, request, answer }: GrpcExchange) =>
  answer.code === 'OK' && /^Model(Stream)?Infer$/.test(rpc) && [request].flat().every((one) => isPlain(one));

function outputsOf(result: InferResult): unknown {
  return {
    names: result.outputs.map(({ name, datatype, shape }) => [name, datatype, shape.map(String)]),
    bytes: result.outputs.map(({ data }) => Buffer.from(data).toString('base64')),
  };
}

function recordedOutputs(response: unknown): unknown {
  const { outputs = [], raw_output_contents = [] } = response as {
    outputs?: { name: string; datatype: string; shape?: string[] }[];
    raw_output_contents?: string[];
  };
  return {
    names: outputs.map(({ name, datatype, shape = [] }) => [name, datatype, shape]),
    bytes: raw_output_contents,
  };
}

describe('inferences over gRPC', () => {
  test.each(calls.filter(isStated).map((exchange) => [exchange.name, exchange] as const))('%s', async (_, exchange) => {
    await using server = await serveRecorded(exchange);
    await using client = new GrpcClient({ url: server.url });
    const requests = [exchange.request].flat() as readonly RecordedRequest[];
    const stated = requests.map((request) => grpcRequest(withBytes(request) as RecordedRequest));
    const results: InferResult[] = [];
    const failures: unknown[] = [];
    const [only] = stated;
    if (exchange.rpc === 'ModelInfer' && only !== undefined) results.push(await client.infer(only));
    else {
      const stream = await client.openStream();
      for (const request of stated) await stream.send(request);
      stream.end();
      for await (const { result, error } of stream)
        result === undefined ? failures.push(error.serverMessage) : results.push(result);
    }
    expect(server.received.map(({ request }) => request)).toEqual(
      requests.map((request) => recorded(withBytes(request))),
    );
    const answers = exchange.rpc === 'ModelInfer' ? [exchange.answer.response] : (exchange.answer.responses ?? []);
    const good = answers.flatMap((answer) => {
      if (exchange.rpc === 'ModelInfer') return [answer];
      const { error_message, infer_response } = answer as { error_message?: string; infer_response?: object };
      return error_message ? [] : [infer_response];
    });
    expect(results.map(outputsOf)).toEqual(good.map(recordedOutputs));
    expect(failures).toEqual(Array(answers.length - good.length).fill('<text>'));
  });

  test('are most of those that were recorded', () => {
    expect(calls.filter(isStated).length).toBeGreaterThan(15);
  });
});

describe('other calls over gRPC', () => {
  test.each<
    [name: string, call: (client: InferenceClient) => Promise<unknown>, expected?: (response: never) => unknown]
  >([
    ['live', (client) => client.isServerLive(), () => true],
    ['ready', (client) => client.isServerReady(), () => true],
    ['model ready version', (client) => client.isModelReady({ model: 'addsub', version: '3' }), () => true],
    ['model ready wrong version', (client) => client.isModelReady({ model: 'addsub', version: '2' }), () => false],
    ['server metadata', (client) => client.serverMetadata()],
    [
      'model metadata',
      (client) => client.modelMetadata('addsub'),
      (response: { inputs: { shape: string[] }[]; outputs: { shape: string[] }[] }) => ({
        ...response,
        inputs: response.inputs.map((one) => ({ ...one, shape: one.shape.map(Number) })),
        outputs: response.outputs.map((one) => ({ ...one, shape: one.shape.map(Number) })),
      }),
    ],
  ])('%s', async (name, call, expected = (response) => response) => {
    const exchange = calls.find((candidate) => candidate.name === name);
    if (exchange === undefined) throw new Error(`no recorded call '${name}'`);
    await using server = await serveRecorded(exchange);
    await using client = new GrpcClient({ url: server.url });
    expect(await call(client)).toEqual(expected(exchange.answer.response as never));
    expect(server.received).toEqual([{ rpc: exchange.rpc, request: recorded(exchange.request) }]);
  });
});
