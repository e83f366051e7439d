import { socketPath } from './unix-socket.ts';

/** Why a port cannot be had, and what to do. */
export function listenProblem(
  error: NodeJS.ErrnoException,
  {
    address,
    port,
    protocol,
  }: { readonly address: string; readonly port: number; readonly protocol: 'http' | 'grpc' | 'metrics' },
): string {
  if (socketPath(address) !== undefined) return socketProblem(error, address, protocol);
  const place = `${address}:${port}`;
  if (error.code === 'EADDRINUSE')
    return `${place} is already in use: stop what listens there, or choose another --${protocol}-port (0 takes a free one)`;
  if (error.code === 'EACCES')
    return `listening on ${place} is not permitted: ports below 1024 need privileges; choose another --${protocol}-port`;
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return `${address} is no address of this machine: give --${protocol}-address one that is (127.0.0.1, or 0.0.0.0 for all)`;
  return `cannot listen on ${place}: ${error.message}`;
}

function socketProblem({ code, message }: NodeJS.ErrnoException, address: string, protocol: string): string {
  const why = code === 'EADDRINUSE' ? 'something is there already, and it is in use or no socket' : message;
  return `cannot listen on ${address}: ${why}; choose another path with --${protocol}-address`;
}
