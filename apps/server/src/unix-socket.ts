/** Sockets in the file system as places to listen on. */
import { lstatSync, unlinkSync } from 'node:fs';
import { connect } from 'node:net';

const PREFIX = 'unix:';

/** Path of an address `unix:PATH`, or `unix:///PATH` as clients of gRPC may write it; undefined for one of a network. */
export function socketPath(address: string): string | undefined {
  if (!address.startsWith(PREFIX)) return undefined;
  return address.slice(PREFIX.length).replace(/^\/\/(?=\/)/, '');
}

/** Removes a socket that nobody listens on: a process that was killed leaves it behind. Leaves alone what is in use, and what is no socket. */
export async function removeStaleSocket(path: string): Promise<void> {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() !== true) return;
  if (await isAbandoned(path)) unlinkSync(path);
}

function isAbandoned(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    const end = (answer: boolean) => {
      probe.destroy();
      resolve(answer);
    };
    probe.once('connect', () => end(false));
    probe.once('error', (error: NodeJS.ErrnoException) => end(error.code === 'ECONNREFUSED'));
  });
}
