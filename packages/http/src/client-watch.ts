/**
 * Tells an exchange that its answer is complete or its client gone. An answer that has the socket hears so itself; one that waits behind another on the
 * same connection does not, so the connection keeps a list of those.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface Watcher {
  /** The answer was handed over whole, or the connection is gone. May be called twice. */
  closed(): void;
}

const WATCHER = Symbol('watcher');
const WAITING = Symbol('watchers of waiting answers');

interface WatchedResponse extends ServerResponse {
  [WATCHER]?: Watcher;
}

interface WatchedSocket extends Socket {
  [WAITING]?: Set<Watcher>;
}

export function watchClient(request: IncomingMessage, response: WatchedResponse, watcher: Watcher): void {
  response[WATCHER] = watcher;
  response.on('close', onResponseClose);
  if (response.socket === null) watchSocket(request.socket, response, watcher);
}

function onResponseClose(this: WatchedResponse): void {
  this[WATCHER]?.closed();
}

function watchSocket(socket: WatchedSocket, response: ServerResponse, watcher: Watcher): void {
  let waiting = socket[WAITING];
  if (waiting === undefined) {
    waiting = new Set();
    socket[WAITING] = waiting;
    socket.on('close', onSocketClose);
  }
  waiting.add(watcher);
  response.once('close', () => waiting.delete(watcher));
}

function onSocketClose(this: WatchedSocket): void {
  for (const watcher of this[WAITING] ?? []) watcher.closed();
}
