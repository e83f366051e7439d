/** Frames are the same wherever the socket cuts them. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FrameReader } from '../../src/http2/frame-reader.ts';
import { END_HEADERS, END_STREAM, frame, PADDED, PREFACE, settings, TYPE } from './raw-client.ts';

const UNWANTED = 0x20;

const BYTES = Buffer.concat([
  PREFACE,
  settings([4, 70_000], [5, 20_000]),
  settings(),
  frame(TYPE.headers, END_HEADERS, 1, Buffer.from('a block')),
  frame(TYPE.data, 0, 1, Buffer.from('some data')),
  frame(TYPE.data, PADDED, 1, Buffer.from('\x03padded\0\0\0')),
  frame(TYPE.data, PADDED, 1, Buffer.from('\x02\0\0')),
  frame(UNWANTED, 0, 1, Buffer.from('unwanted')),
  frame(TYPE.ping, 0, 0, Buffer.from('are you?')),
  frame(TYPE.data, END_STREAM, 1),
]);

/** What is told of the bytes in pieces; data that follows data of the same frame is joined. */
function readInPieces(cuts: readonly number[]): readonly string[] {
  const told: string[] = [];
  let data = '';
  const reader = new FrameReader({
    begin: ({ type, length }) => {
      told.push(`begin ${type} ${length}`);
      return type !== UNWANTED;
    },
    frame: ({ type }, payload) => told.push(`frame ${type} ${payload.toString('latin1')}`),
    data: (piece) => {
      data += piece.toString('latin1');
    },
    dataEnded: () => {
      told.push(`data ${data}`);
      data = '';
    },
  });
  const places = [0, ...cuts.toSorted((a, b) => a - b), BYTES.length];
  for (let i = 1; i < places.length; i++) reader.read(Buffer.from(BYTES.subarray(places[i - 1], places[i])));
  return told;
}

const WHOLE = readInPieces([]);

it('are told with their contents', () => {
  expect(WHOLE).toEqual([
    'begin 4 12',
    `frame 4 ${'\0\x04\0\x01\x11\x70\0\x05\0\0\x4e\x20'}`,
    'begin 4 0',
    'frame 4 ',
    'begin 1 7',
    'frame 1 a block',
    'begin 0 9',
    'data some data',
    'begin 0 10',
    'data padded',
    'begin 0 3',
    'data ',
    'begin 32 8',
    'begin 6 8',
    'frame 6 are you?',
    'begin 0 0',
    'data ',
  ]);
});

it('are the same with a cut at any place', () => {
  for (let cut = 0; cut <= BYTES.length; cut++) expect(readInPieces([cut]), `cut at ${cut}`).toEqual(WHOLE);
});

it('are the same byte by byte, and in any pieces', () => {
  expect(readInPieces(Array.from(BYTES, (_, i) => i))).toEqual(WHOLE);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: BYTES.length })), (cuts) => {
      expect(readInPieces(cuts)).toEqual(WHOLE);
    }),
  );
});
