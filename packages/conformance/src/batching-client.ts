/** A client that says what became of its requests in batches: connections are open before they are used, so that requests arrive in the order of the calls. */
import { Agent, type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';

/** One FP32 input, rows by columns, as JSON. */
interface JsonInput {
  readonly name: string;
  readonly rows: number;
  readonly columns: number;
  /** Of every element. */
  readonly value: number;
}

export interface SentRequest {
  readonly model: string;
  readonly inputs: readonly JsonInput[];
  readonly outputs?: readonly string[];
  readonly parameters?: string;
}

interface BatchAnswer {
  readonly status: number;
  /** Rows of its batch and why that was closed; '' for a request that ran in none. */
  readonly batch: string;
  readonly error: string | undefined;
}

/** A request on its way. */
export interface Pending {
  /** Undefined when the client went away first. */
  readonly answer: Promise<BatchAnswer | undefined>;
  /** Closes the connection. */
  leave(): void;
}

/** Batches of a model by their number of rows, e.g. `4:2 6:1`, and what else the statistics count. */
export interface BatchCounts {
  readonly sizes: ReadonlyMap<number, number>;
  /** Batches that were sent to instances, also those that still run. */
  readonly formed: number;
  readonly inferences: number;
  readonly failures: number;
}

export class BatchingClient implements Disposable {
  readonly #url: string;
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: 64 });

  /** @param connections  open from the start, as many as requests are to be in flight at a time */
  static async connect(url: string, connections: number): Promise<BatchingClient> {
    const client = new BatchingClient(url);
    await Promise.all(Array.from({ length: connections }, () => client.#get('/v2')));
    return client;
  }

  private constructor(url: string) {
    this.#url = url;
  }

  /** Writes the request at once. */
  send({ model, inputs, outputs, parameters = '' }: SentRequest): Pending {
    const header = JSON.stringify({
      inputs: inputs.map(({ name, rows, columns, value }) => {
        return { name, datatype: 'FP32', shape: [rows, columns], data: Array(rows * columns).fill(value) };
      }),
      ...(outputs && { outputs: outputs.map((name) => ({ name })) }),
    });
    // 64-bit integers have no JavaScript number, so parameters come as text.
    const told = `"parameters":{"nereid_batch":true${parameters === '' ? '' : `,${parameters}`}}`;
    const call = this.#call(`/v2/models/${model}/infer`, 'POST');
    const answer = bodyOf(call).then(readAnswer, () => undefined);
    call.end(`{${told},${header.slice(1)}`);
    return { answer, leave: () => call.destroy() };
  }

  async counts(model: string): Promise<BatchCounts> {
    const { body } = await this.#get(`/v2/models/${model}/stats`);
    const [{ inference_count, inference_stats, batch_stats, batching }] = JSON.parse(body).model_stats;
    const counted: { readonly count: number }[] = batching.batch_sizes;
    const batches: { readonly batch_size: number; readonly compute_infer: { readonly count: number } }[] = batch_stats;
    return {
      sizes: new Map(batches.map(({ batch_size, compute_infer }) => [batch_size, compute_infer.count])),
      formed: counted.reduce((sum, { count }) => sum + count, 0),
      inferences: inference_count,
      failures: inference_stats.fail.count,
    };
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  #get(path: string): Promise<{ readonly status: number; readonly body: string }> {
    const call = this.#call(path, 'GET');
    call.end();
    return bodyOf(call);
  }

  #call(path: string, method: 'GET' | 'POST'): ClientRequest {
    return requestHttp(this.#url + path, { method, agent: this.#agent });
  }
}

async function bodyOf(call: ClientRequest): Promise<{ readonly status: number; readonly body: string }> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    call.on('response', resolve);
    call.on('error', reject);
  });
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() };
}

function readAnswer({ status, body }: { readonly status: number; readonly body: string }): BatchAnswer {
  const { error, parameters = {} } = JSON.parse(body);
  const batch =
    'nereid_batch_size' in parameters ? `${parameters.nereid_batch_size} ${parameters.nereid_batch_reason}` : '';
  return { status, batch, error };
}

/** What came between two counts, as `{2:1,6:1}` of the reference's tables. */
export function sizesBetween(before: BatchCounts, after: BatchCounts): Record<number, number> {
  const more = [...after.sizes].map(([size, count]) => [size, count - (before.sizes.get(size) ?? 0)] as const);
  return Object.fromEntries(more.filter(([, count]) => count > 0));
}
