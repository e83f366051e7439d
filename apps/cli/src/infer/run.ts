import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { GrpcClient, HttpClient, HttpInferBody, InferenceClient } from '@nereid/client';
import type { Tensor } from '@nereid/core';
import { encodeInferRequest } from '@nereid/protocol';
import { readLimited } from '@nereid/repository';
import type { InferOptions } from '../commands/infer.ts';
import { withGrpcServer, withServer } from '../connection/open-client.ts';
import { CliError } from '../errors.ts';
import { type Io, printLine, readStream } from '../io.ts';
import { npyFile } from '../npy/write.ts';
import { paintFor } from '../output/style.ts';
import { writeFault, writeOrExplain } from '../output/write-file.ts';
import { buildInputs, type JsonValues, MAX_FILE_BYTES, parseText } from './inputs.ts';
import { knownTensors, type ModelTensors } from './metadata.ts';
import { type Answer, responseText } from './report.ts';

/** `nereid infer`. */
export async function runInfer(model: string, options: InferOptions, io: Io): Promise<number> {
  const { url, isGrpc } = addressOf(options);
  const address = { url, timeoutMs: options.timeout * 1000 };
  const given = options.json === undefined ? undefined : await readJson(options.json, io);
  const job = { target: { model, version: options.modelVersion }, given, options, io };
  if (isGrpc) await withGrpcServer(address, (client) => inferOverGrpc(client, job));
  else await withServer(address, (client) => inferOverHttp(client, job));
  return 0;
}

interface Job {
  readonly target: { readonly model: string; readonly version: string | undefined };
  readonly given: JsonFile | undefined;
  readonly options: InferOptions;
  readonly io: Io;
}

/** @throws {CliError} `usage` when address and protocol contradict each other */
function addressOf({ url, protocol }: InferOptions): { readonly url: string; readonly isGrpc: boolean } {
  const isGrpc = protocol === undefined ? GRPC_ADDRESS.test(url ?? '') : protocol === 'grpc';
  if (url !== undefined && protocol !== undefined && (isGrpc ? HTTP_ADDRESS : GRPC_ADDRESS).test(url))
    throw new CliError('usage', `--url ${url} is not for --protocol ${protocol}; leave one of them out`);
  return { url: url ?? (isGrpc ? 'grpc://127.0.0.1:8001' : 'http://127.0.0.1:8000'), isGrpc };
}

const HTTP_ADDRESS = /^https?:\/\//;
const GRPC_ADDRESS = /^grpcs?:\/\//;

async function inferOverHttp(client: HttpClient, job: Job): Promise<void> {
  const { target, given, options, io } = job;
  if (isWholeRequest(given?.value)) {
    await sendBody(client, { target, body: { bytes: wholeRequest(given, options) }, options, io });
    return;
  }
  const { metadata, inputs } = await prepare(client, job);
  if (options.rawJson) await sendBody(client, { target, body: bodyFor(inputs, { metadata, options }), options, io });
  else await send(client, inputs, job);
}

async function inferOverGrpc(client: GrpcClient, job: Job): Promise<void> {
  if (isWholeRequest(job.given?.value) || job.options.rawJson)
    throw new CliError('usage', 'requests and answers as JSON are for HTTP; gRPC has none');
  const { inputs } = await prepare(client, job);
  await send(client, inputs, job);
}

async function prepare(client: InferenceClient, { target, given, options }: Job) {
  const metadata = knownTensors(await client.modelMetadata(target));
  return { metadata, inputs: await buildInputs(metadata, { options, values: valuesOf(given) }) };
}

interface JsonFile {
  readonly label: string;
  readonly bytes: Buffer;
  readonly value: unknown;
}

async function readJson(file: string, io: Io): Promise<JsonFile> {
  const label = file === '-' ? 'standard input' : `'${file}'`;
  const bytes = file === '-' ? await readStream(io.stdin, MAX_FILE_BYTES) : await readLimited(file, MAX_FILE_BYTES);
  return { label, bytes, value: parseText(bytes.toString('utf8'), label) };
}

function isWholeRequest(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'inputs' in value && Array.isArray(value.inputs);
}

/** Sent as it stands, so that every form of the protocol can be tried. */
function wholeRequest(given: JsonFile | undefined, { random, output, showBatch }: InferOptions): Buffer {
  if (random || output.length > 0 || showBatch) {
    throw new CliError(
      'usage',
      `${given?.label} is a whole request, which --random, --output and --show-batch cannot change`,
    );
  }
  return given?.bytes ?? Buffer.alloc(0);
}

function valuesOf(given: JsonFile | undefined): JsonValues | undefined {
  if (given === undefined) return undefined;
  const { value, label } = given;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new CliError(
    'bad-input',
    `${label} must hold a request ({"inputs": […]}) or an object of values ({"NAME": […]})`,
  );
}

function parametersOf({ showBatch = false }: InferOptions): Readonly<Record<string, boolean>> {
  return showBatch ? { nereid_batch: true } : {};
}

/** Inputs in binary form, for outputs as JSON: without a list the server would send them in binary form too. */
function bodyFor(
  inputs: readonly Tensor[],
  { metadata, options }: { readonly metadata: ModelTensors; readonly options: InferOptions },
): HttpInferBody {
  const names = options.output.length > 0 ? options.output : metadata.outputs.map(({ name }) => name);
  const { header, blobs, headerLength } = encodeInferRequest({
    inputs,
    outputs: names.map((name) => ({ name, binary: false })),
    parameters: new Map(Object.entries(parametersOf(options))),
  });
  return { bytes: Buffer.concat([Buffer.from(header, 'latin1'), ...blobs]), headerLength };
}

interface Sent {
  readonly target: { readonly model: string; readonly version: string | undefined };
  readonly body: HttpInferBody;
  readonly options: InferOptions;
  readonly io: Io;
}

/** A body as it stands; with `--raw-json` the answer is shown as it stands, too. */
async function sendBody(client: HttpClient, { target, body, options, io }: Sent): Promise<void> {
  const started = performance.now();
  const answer = await client.inferRaw(target, body);
  const elapsedMs = performance.now() - started;
  if (options.rawJson)
    printLine(io.stdout, Buffer.from(answer.bytes.subarray(0, answer.headerLength)).toString('utf8'));
  else await show({ response: client.decode(answer), elapsedMs }, { options, io });
}

async function send(client: InferenceClient, inputs: readonly Tensor[], { target, options, io }: Job): Promise<void> {
  const started = performance.now();
  const request = { ...target, inputs, outputs: options.output, parameters: parametersOf(options) };
  const response = await client.infer(request);
  await show({ response, elapsedMs: performance.now() - started }, { options, io });
}

async function show(
  answer: Answer,
  { options, io }: { readonly options: InferOptions; readonly io: Io },
): Promise<void> {
  io.stdout.write(responseText(answer, paintFor(io.stdout, io)));
  if (options.outputDir === undefined) return;
  for (const output of answer.response.outputs)
    printLine(io.stdout, `written: ${await writeOutput(options.outputDir, output)}`);
}

/** @returns path of the file */
async function writeOutput(directory: string, output: Tensor): Promise<string> {
  await mkdir(directory, { recursive: true }).catch((error: unknown) => {
    throw new CliError('unreadable', `cannot make the directory '${directory}': ${writeFault(error)}`, {
      cause: error,
    });
  });
  const path = join(directory, `${fileName(output.name)}.npy`);
  await writeOrExplain(path, npyFile(output));
  return path;
}

/** Different names stay different: what no file name may hold is written as in a URL. */
function fileName(name: string): string {
  return name.replace(/[%/\\:\u0000-\u001f]/g, encodeURIComponent);
}
