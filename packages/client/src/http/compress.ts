import type { Compression } from '../options.ts';
import { joined } from './transport.ts';

/** `deflate` is a zlib stream here as in HTTP. */
export async function compress(pieces: readonly Uint8Array[], compression: Compression): Promise<Uint8Array> {
  const stream = new Blob([joined(pieces)]).stream().pipeThrough(new CompressionStream(compression));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
