import { crc32, deflateRawSync } from 'node:zlib';

export interface MemberInit {
  readonly contents?: string | Uint8Array;
  readonly deflate?: boolean;
  /** States another uncompressed size than the real one. */
  readonly statedSize?: number;
  readonly method?: number;
}

/** Writes a zip archive, also one that lies about itself. */
export function zipOf(members: Readonly<Record<string, MemberInit | string>>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, init] of Object.entries(members)) {
    const member: MemberInit = typeof init === 'string' ? { contents: init } : init;
    const raw = Buffer.from(member.contents ?? '');
    const data = member.deflate ? deflateRawSync(raw) : raw;
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(0x800, 2);
    fields.writeUInt16LE(member.method ?? (member.deflate ? 8 : 0), 4);
    fields.writeUInt32LE(crc32(raw), 10);
    fields.writeUInt32LE(data.length, 14);
    fields.writeUInt32LE(member.statedSize ?? raw.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, Buffer.from(name), data]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), fields, tail, Buffer.from(name)]));
    parts.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(directory.length, 8);
  end.writeUInt16LE(directory.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, central, end]);
}
