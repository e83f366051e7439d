import { ClientError, GrpcClient, HttpClient, type InferenceClient, nodeTransport } from '@nereid/client';
import { CliError } from '../errors.ts';

export interface ServerAddress {
  /** With or without `http://`. */
  readonly url: string;
  readonly timeoutMs: number;
}

/** Makes HTTP calls to one server, ends the connection after them, and says in words why they fail. */
export function withServer<T>({ url, timeoutMs }: ServerAddress, work: (client: HttpClient) => Promise<T>): Promise<T> {
  return withClient(() => new HttpClient({ url, timeoutMs, transport: nodeTransport() }), { url, work });
}

/** `withServer` over gRPC. */
export function withGrpcServer<T>(
  { url, timeoutMs }: ServerAddress,
  work: (client: GrpcClient) => Promise<T>,
): Promise<T> {
  return withClient(() => new GrpcClient({ url, timeoutMs }), { url, work });
}

async function withClient<C extends InferenceClient, T>(
  open: () => C,
  { url, work }: { readonly url: string; readonly work: (client: C) => Promise<T> },
): Promise<T> {
  const client = opened(open, url);
  try {
    return await work(client);
  } catch (thrown) {
    throw thrown instanceof ClientError ? explained(thrown) : thrown;
  } finally {
    await client.close();
  }
}

/** @throws {CliError} `usage` when the address is none */
function opened<C>(open: () => C, url: string): C {
  try {
    return open();
  } catch (thrown) {
    throw new CliError('usage', `--url '${url}' is no address; give one like http://127.0.0.1:8000`, { cause: thrown });
  }
}

/** With the advice that fits a command line. */
function explained(error: ClientError): CliError {
  const { reason, summary, message } = error;
  switch (reason) {
    case 'usage':
      return new CliError('bad-input', message, { cause: error });
    case 'connection':
      return new CliError(
        'connection',
        error.isNotTaken
          ? `${summary}; start a server with nereid serve --model-repository DIR, or name another with --url`
          : summary,
        { cause: error },
      );
    case 'timeout':
    case 'cancelled':
      return new CliError('connection', `${summary}; --timeout SECONDS waits longer`, { cause: error });
    case 'refused':
    case 'bad-answer':
      return new CliError('server', message, { cause: error });
    default:
      return reason satisfies never;
  }
}
