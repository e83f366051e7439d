/** Single inferences over each protocol, told as what their client saw. */
import { Agent, request as requestHttp } from 'node:http';
import grpc from '@grpc/grpc-js';
import { openGrpcClient, type UnaryCall } from './grpc-recording.ts';
import type { NereidProcess } from './nereid-process.ts';

export interface LoadTensor {
  readonly name: string;
  readonly datatype: 'FP32' | 'INT32';
  readonly shape: readonly number[];
  readonly data: readonly number[];
}

export interface LoadRequest {
  readonly model: string;
  readonly id: string;
  readonly inputs: readonly LoadTensor[];
  readonly outputs?: readonly string[];
  /** Booleans, strings, and whole numbers. */
  readonly parameters?: Readonly<Record<string, boolean | number | string>>;
}

/** What became of a request: `OK`, a status of HTTP or the name of a code of gRPC, `error` for a failure that is told in a stream, or `gone` for a client that did not wait. */
export type Outcome = string;

/** How requests are sent; generate takes one number per input. */
export const PROTOCOLS = ['http', 'grpc', 'grpc-stream', 'generate', 'generate_stream'] as const;
export type LoadProtocol = (typeof PROTOCOLS)[number];

export class LoadClient implements Disposable {
  readonly #url: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  readonly #grpc: grpc.Client;

  constructor({ url, grpcPlace }: NereidProcess) {
    this.#url = url;
    this.#grpc = openGrpcClient(grpcPlace);
  }

  /** @param leavesAfterMs  how long the client waits before it goes away, if it does */
  send(protocol: LoadProtocol, request: LoadRequest, leavesAfterMs?: number): Promise<Outcome> {
    const isOver = new AbortController();
    const timer = leavesAfterMs === undefined ? undefined : setTimeout(() => isOver.abort(), leavesAfterMs);
    return this.#send(protocol, request, isOver.signal).finally(() => clearTimeout(timer));
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
    this.#grpc.close();
  }

  #send(protocol: LoadProtocol, request: LoadRequest, signal: AbortSignal): Promise<Outcome> {
    switch (protocol) {
      case 'http':
        return this.#post(`${request.model}/infer`, httpBody(request), signal);
      case 'generate':
      case 'generate_stream':
        return this.#post(`${request.model}/${protocol}`, generateBody(request), signal);
      case 'grpc':
        return this.#unary(request, signal);
      case 'grpc-stream':
        return this.#stream(request, signal);
      default:
        return protocol satisfies never;
    }
  }

  #post(path: string, body: object, signal: AbortSignal): Promise<Outcome> {
    return new Promise((resolve) => {
      const call = requestHttp(`${this.#url}/v2/models/${path}`, { method: 'POST', agent: this.#agent, signal });
      call.on('error', () => resolve('gone'));
      call.on('response', (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        response.on('error', () => resolve('gone'));
        response.on('end', () => {
          if (response.statusCode !== 200) resolve(String(response.statusCode));
          else resolve(/^data: ?\{"error"/m.test(text) ? 'error' : 'OK');
        });
      });
      call.end(JSON.stringify(body));
    });
  }

  #unary(request: LoadRequest, signal: AbortSignal): Promise<Outcome> {
    const call = Reflect.get(this.#grpc, 'ModelInfer') as UnaryCall;
    return new Promise((resolve) => {
      const made = call.call(this.#grpc, grpcMessage(request), {}, (error) => {
        if (error === null) resolve('OK');
        else resolve(signal.aborted ? 'gone' : (grpc.status[error.code] ?? ''));
      });
      signal.addEventListener('abort', () => made.cancel());
    });
  }

  #stream(request: LoadRequest, signal: AbortSignal): Promise<Outcome> {
    const open = Reflect.get(this.#grpc, 'ModelStreamInfer') as () => grpc.ClientDuplexStream<
      unknown,
      { readonly error_message?: string }
    >;
    const call = open.call(this.#grpc);
    return new Promise((resolve) => {
      let failed = false;
      call.on('data', ({ error_message }) => {
        failed ||= (error_message ?? '') !== '';
      });
      call.on('error', () => {});
      call.on('status', ({ code }: grpc.StatusObject) => {
        if (code !== grpc.status.OK) resolve(signal.aborted ? 'gone' : (grpc.status[code] ?? ''));
        else resolve(failed ? 'error' : 'OK');
      });
      signal.addEventListener('abort', () => call.cancel());
      call.write(grpcMessage(request));
      call.end();
    });
  }
}

function httpBody({ id, inputs, outputs, parameters }: LoadRequest): object {
  return { id, inputs, ...(outputs && { outputs: outputs.map((name) => ({ name })) }), parameters };
}

function generateBody({ id, inputs, parameters }: LoadRequest): object {
  return { id, ...Object.fromEntries(inputs.map(({ name, data }) => [name, data])), ...parameters };
}

function grpcMessage({ model, id, inputs, outputs = [], parameters = {} }: LoadRequest): object {
  return {
    model_name: model,
    id,
    inputs: inputs.map(({ name, datatype, shape, data }) => ({
      name,
      datatype,
      shape,
      contents: datatype === 'FP32' ? { fp32_contents: data } : { int_contents: data },
    })),
    outputs: outputs.map((name) => ({ name })),
    parameters: Object.fromEntries(
      Object.entries(parameters).map(([name, value]) => [name, { [KINDS[typeof value] ?? '']: value }]),
    ),
  };
}

const KINDS: Readonly<Record<string, string>> = {
  boolean: 'bool_param',
  number: 'int64_param',
  string: 'string_param',
};
