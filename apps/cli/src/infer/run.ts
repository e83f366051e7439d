import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Tensor } from '@nereid/core';
import { decodeInferResponse, type EncodedMessage, encodeInferRequest } from '@nereid/protocol';
import { readLimited } from '@nereid/repository';
import type { InferOptions } from '../commands/infer.ts';
import { CliError } from '../errors.ts';
import { type Io, printLine, readStream } from '../io.ts';
import { npyFile } from '../npy/write.ts';
import { paintFor } from '../output/style.ts';
import { writeFault, writeOrExplain } from '../output/write-file.ts';
import { type InferAnswer, ModelClient } from './client.ts';
import { buildInputs, type JsonValues, MAX_FILE_BYTES, parseText } from './inputs.ts';
import { responseText } from './report.ts';

/** `nereid infer`. */
export async function runInfer(model: string, options: InferOptions, io: Io): Promise<number> {
  const { url, modelVersion: version, timeout, json } = options;
  const client = new ModelClient({ url, model, version, timeoutMs: timeout * 1000 });
  const given = json === undefined ? undefined : await readJson(json, io);
  const message = isWholeRequest(given?.value)
    ? wholeRequest(given, options)
    : await buildRequest(client, { options, values: valuesOf(given) });
  const started = performance.now();
  const answer = await client.infer(message);
  await show(answer, { elapsedMs: performance.now() - started, options, io });
  return 0;
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

async function buildRequest(
  client: ModelClient,
  { options, values }: { readonly options: InferOptions; readonly values: JsonValues | undefined },
): Promise<EncodedMessage> {
  const metadata = await client.metadata();
  const inputs = await buildInputs(metadata, { options, values });
  const { rawJson = false, showBatch = false } = options;
  // Without a list the server sends all outputs in binary form.
  const names = options.output.length > 0 || !rawJson ? options.output : metadata.outputs.map(({ name }) => name);
  return encodeInferRequest({
    inputs,
    outputs: names.map((name) => ({ name, binary: !rawJson })),
    ...(showBatch && { parameters: new Map([['nereid_batch', true]]) }),
  });
}

interface Shown {
  readonly elapsedMs: number;
  readonly options: InferOptions;
  readonly io: Io;
}

async function show({ body, headerLength }: InferAnswer, { elapsedMs, options, io }: Shown): Promise<void> {
  if (options.rawJson) {
    printLine(io.stdout, body.subarray(0, headerLength).toString('utf8'));
    return;
  }
  const response = decodeInferResponse({ body, headerLength });
  io.stdout.write(responseText({ response, elapsedMs }, paintFor(io.stdout, io)));
  if (options.outputDir === undefined) return;
  for (const output of response.outputs)
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
