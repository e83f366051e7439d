import { UsageError } from './errors.ts';

/** Where a protocol is to be served. */
interface Place {
  readonly address: string;
  /** 0 takes a free one. */
  readonly port: number;
}

/** Where each protocol is to be served; undefined for those that are not. */
export interface Places {
  readonly http: Place | undefined;
  readonly grpc: Place | undefined;
  readonly metrics: Place | undefined;
}

const TITLES = { http: 'HTTP', grpc: 'gRPC', metrics: 'metrics' } as const;

/** @throws {UsageError} when two protocols are to be served at one address and port */
export function assertPlacesApart(places: Places): void {
  const served = (['http', 'grpc', 'metrics'] as const).flatMap((name) => {
    const place = places[name];
    return place === undefined ? [] : [{ name, place }];
  });
  for (const [index, first] of served.entries()) {
    const second = served.slice(index + 1).find(({ place }) => collide(first.place, place));
    if (second === undefined) continue;
    const { address, port } = second.place;
    throw new UsageError(
      `${TITLES[first.name]} and ${TITLES[second.name]} are to be served at the same address and port (${address}:${port}): choose another --${second.name}-port`,
    );
  }
}

function collide(one: Place, other: Place): boolean {
  if (one.port !== other.port || one.port === 0) return false;
  return one.address === other.address || covers(one.address, other.address) || covers(other.address, one.address);
}

/** Whether listening on `address` takes the ports of `other` too: `::` is every address, `0.0.0.0` every one of IPv4. */
function covers(address: string, other: string): boolean {
  return address === '::' || (address === '0.0.0.0' && !other.includes(':'));
}
