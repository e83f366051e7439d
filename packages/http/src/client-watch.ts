/**
 * Tells exchanges that their client is gone. The connection keeps the list, and has one listener for all of its requests: those that are answered, and those
 * that wait behind another and never hear of its end themselves.
 */
import type { Socket } from 'node:net';

export interface Watcher {
  /** The connection is gone. */
  closed(): void;
}

const WATCHERS = Symbol('watchers of the connection');

interface WatchedSocket extends Socket {
  [WATCHERS]?: Set<Watcher>;
}

export function watchClient(socket: WatchedSocket, watcher: Watcher): void {
  let watchers = socket[WATCHERS];
  if (watchers === undefined) {
    watchers = new Set();
    socket[WATCHERS] = watchers;
    socket.on('close', onClose);
  }
  watchers.add(watcher);
}

/** To be called when the exchange is over, whatever becomes of the connection. */
export function unwatchClient(socket: WatchedSocket, watcher: Watcher): void {
  socket[WATCHERS]?.delete(watcher);
}

function onClose(this: WatchedSocket): void {
  for (const watcher of this[WATCHERS] ?? []) watcher.closed();
}
