/** Vectors of RFC 7541, Appendix C; what the client of Node.js encodes; blocks that are none. */
import { describe, expect, it } from 'vitest';
import { HpackDecoder } from '../../src/http2/hpack/decoder.ts';
import { HpackEncoder } from '../../src/http2/hpack/encoder.ts';
import type { Field } from '../../src/http2/hpack/static-table.ts';

const bytesOf = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex');

function decode(decoder: HpackDecoder, block: Buffer): Field[] {
  const fields: Field[] = [];
  decoder.decode(block, (name, value) => fields.push([name, value]));
  return fields;
}

const FIRST: Field[] = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':path', '/'],
  [':authority', 'www.example.com'],
];
const REQUESTS: Field[][] = [
  FIRST,
  [...FIRST, ['cache-control', 'no-cache']],
  [
    [':method', 'GET'],
    [':scheme', 'https'],
    [':path', '/index.html'],
    [':authority', 'www.example.com'],
    ['custom-key', 'custom-value'],
  ],
];
const RESPONSES: Field[][] = [
  [
    [':status', '302'],
    ['cache-control', 'private'],
    ['date', 'Mon, 21 Oct 2013 20:13:21 GMT'],
    ['location', 'https://www.example.com'],
  ],
  [
    [':status', '307'],
    ['cache-control', 'private'],
    ['date', 'Mon, 21 Oct 2013 20:13:21 GMT'],
    ['location', 'https://www.example.com'],
  ],
  [
    [':status', '200'],
    ['cache-control', 'private'],
    ['date', 'Mon, 21 Oct 2013 20:13:22 GMT'],
    ['location', 'https://www.example.com'],
    ['content-encoding', 'gzip'],
    ['set-cookie', 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1'],
  ],
];

describe('a decoder', () => {
  it.each<[name: string, blocks: readonly string[], fields: Field[][], tableBytes?: number]>([
    [
      'C.2.1',
      ['400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572'],
      [[['custom-key', 'custom-header']]],
    ],
    ['C.2.2', ['040c 2f73 616d 706c 652f 7061 7468'], [[[':path', '/sample/path']]]],
    ['C.2.3', ['1008 7061 7373 776f 7264 0673 6563 7265 74'], [[['password', 'secret']]]],
    ['C.2.4', ['82'], [[[':method', 'GET']]]],
    [
      'C.3',
      [
        '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
        '8286 84be 5808 6e6f 2d63 6163 6865',
        '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
      ],
      REQUESTS,
    ],
    [
      'C.4',
      [
        '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
        '8286 84be 5886 a8eb 1064 9cbf',
        '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
      ],
      REQUESTS,
    ],
    [
      'C.5, where entries are evicted',
      [
        '4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 54' +
          '6e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
        '4803 3330 37c1 c0bf',
        '88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970' +
          '7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33' +
          '3630 303b 2076 6572 7369 6f6e 3d31',
      ],
      RESPONSES,
      256,
    ],
    [
      'C.6, where entries are evicted',
      [
        '4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7' +
          '8f0b 97c8 e9ae 82ae 43d3',
        '4883 640e ffc1 c0bf',
        '88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf' +
          'cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07',
      ],
      RESPONSES,
      256,
    ],
  ])('reads %s', (_, blocks, fields, tableBytes) => {
    const decoder = new HpackDecoder(tableBytes);
    expect(blocks.map((block) => decode(decoder, bytesOf(block)))).toEqual(fields);
  });

  it.each([
    ['the index 0', '80', /no entry 0/],
    ['an entry that the table does not have', 'be', /no entry 62/],
    ['a name that the table does not have', '7f 00 00', /no entry 63/],
    ['an end inside an integer', 'ff ff', /ends inside a field/],
    ['an integer without end', `ff ${'ff'.repeat(10)}`, /too large/],
    ['an end inside a string', '40 03 61', /ends inside a string/],
    ['a string longer than any', '40 7f ff ff ff ff ff 0f', /too large/],
    ['a table larger than agreed', '3f e2 1f', /4096 bytes, the block asks for 4097/],
    ['a size of the table behind a field', '82 20', /inside a block/],
    ['padding of zeros', '40 01 61 81 18', /not Huffman/],
    ['padding of more than seven bits', '40 01 61 82 1f ff', /not Huffman/],
    ['the code of the end', '40 01 61 84 ff ff ff fc', /not Huffman/],
  ])('refuses %s', (_, hex, text) => {
    expect(() => decode(new HpackDecoder(), bytesOf(hex))).toThrow(text);
  });

  it('keeps nothing that is larger than its table, and drops what it had', () => {
    const decoder = new HpackDecoder(64);
    decode(decoder, bytesOf('4001 6101 62'));
    expect(decode(decoder, bytesOf('be'))).toEqual([['a', 'b']]);
    decode(decoder, Buffer.concat([bytesOf('4001 6121'), Buffer.alloc(33, 'x')]));
    expect(() => decode(decoder, bytesOf('be'))).toThrow(/no entry 62/);
  });
});

describe('an encoder', () => {
  const list = (fields: Field[], ...recurring: string[]) => ({ fields, recurring: new Set(recurring) });
  const head = list(
    [
      [':status', '200'],
      ['content-type', 'application/grpc'],
      ['x-long', 'y'.repeat(300)],
    ],
    'content-type',
  );
  const other = list([['grpc-status', '0']], 'grpc-status');

  it('says what recurs once, and refers to it then', () => {
    const [encoder, decoder] = [new HpackEncoder(), new HpackDecoder()];
    const lengths = [head, other, head, other, head].map((sent) => {
      const block = encoder.encode(sent);
      expect(decode(decoder, block)).toEqual(sent.fields);
      return block.length;
    });
    expect(lengths[2]).toBeLessThan((lengths[0] ?? 0) - 15);
    expect([lengths[3], lengths[4]]).toEqual([1, lengths[2]]);
  });

  it.each([0, 60, 100, 4096, 2 ** 32 - 1])('keeps to a table of %i bytes from one block to the next', (bytes) => {
    const [encoder, decoder] = [new HpackEncoder(), new HpackDecoder()];
    for (const sent of [head, other]) decode(decoder, encoder.encode(sent));
    encoder.setTableLimit(bytes);
    const small = new HpackEncoder();
    small.setTableLimit(bytes);
    const fresh = new HpackDecoder(Math.min(bytes, 4096));
    for (const sent of [other, head, other, head]) {
      expect(decode(decoder, encoder.encode(sent))).toEqual(sent.fields);
      expect(decode(fresh, small.encode(sent))).toEqual(sent.fields);
    }
  });
});
