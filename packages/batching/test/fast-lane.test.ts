import { describe, expect, it } from 'vitest';
import { FastLane, type LaneState, mayRunInline } from '../src/fast-lane.ts';

const OPEN: LaneState = {
  costMicros: 20,
  provenBytes: 1000,
  loneArrivals: 17,
  loneArrivalsNeeded: 16,
  isTurnTaken: false,
};
const ALONE = { isAlone: true, inputBytes: 1000 };

describe('mayRunInline', () => {
  it.each([
    ['a lone, short, known request after enough lone ones', OPEN, ALONE, true],
    ['one in company', OPEN, { ...ALONE, isAlone: false }, false],
    ['the second within one turn of the loop', { ...OPEN, isTurnTaken: true }, ALONE, false],
    ['one of too few lone ones', { ...OPEN, loneArrivals: 16 }, ALONE, false],
    ['one whose model costs as much as the bound', { ...OPEN, costMicros: 100 }, ALONE, true],
    ['one whose model costs more than the bound', { ...OPEN, costMicros: 100.1 }, ALONE, false],
    ['one whose model was never measured', { ...OPEN, costMicros: Number.POSITIVE_INFINITY }, ALONE, false],
    ['one with more bytes than were ever measured as short', OPEN, { ...ALONE, inputBytes: 1001 }, false],
  ])('for %s', (_, state, arrival, expected) => {
    expect(mayRunInline(state, arrival, 100)).toBe(expected);
  });
});

/** A lane whose turns end by hand, and a client that sends one request after another. */
function laneOf() {
  const turnEnds: (() => void)[] = [];
  const lane = new FastLane({ maxRunMicros: 100, afterTurn: (callback) => turnEnds.push(callback) });
  const endTurn = () => {
    for (const callback of turnEnds.splice(0)) callback();
  };
  /** One lone request in a turn of its own that takes `micros`; whether it ran inline. */
  const single = (micros: number, inputBytes = 8): boolean => {
    const isInline = lane.admits({ isAlone: true, inputBytes });
    lane.measured({ micros, inputBytes, isInline });
    endTurn();
    return isInline;
  };
  /** Requests that run inline out of `count` lone ones. */
  const singles = (count: number, micros: number): number =>
    Array.from({ length: count }, () => single(micros)).filter(Boolean).length;
  /** Lone requests until one runs inline, at most 10 000. */
  const untilInline = (micros: number): number => {
    for (let count = 0; count < 10_000; count++) if (single(micros)) return count;
    return 10_000;
  };
  return { lane, turnEnds, endTurn, single, singles, untilInline };
}

describe('the fast lane', () => {
  it('opens after sixteen lone requests and stays open for as long as they are lone', () => {
    const { untilInline, singles } = laneOf();
    expect(untilInline(20)).toBe(16);
    expect(singles(1000, 20)).toBe(1000);
  });

  it('never opens for a model that is slow', () => {
    expect(laneOf().singles(1000, 101)).toBe(0);
    expect(laneOf().singles(1000, 200_000)).toBe(0);
  });

  it('never opens for a model that is never measured', () => {
    const { lane } = laneOf();
    for (let i = 0; i < 1000; i++) expect(lane.admits({ isAlone: true, inputBytes: 8 })).toBe(false);
  });

  it('forgets slow first runs within twenty quick ones', () => {
    const { singles, untilInline } = laneOf();
    expect(singles(3, 2_000_000)).toBe(0);
    expect(untilInline(20)).toBeLessThanOrEqual(20);
  });

  it('closes at the second arrival within one turn, and that one does not run inline', () => {
    const { lane, endTurn, untilInline } = laneOf();
    untilInline(20);
    expect(lane.admits(ALONE_SMALL)).toBe(true);
    expect(lane.admits(ALONE_SMALL)).toBe(false);
    endTurn();
    expect(lane.admits(ALONE_SMALL)).toBe(false);
  });

  it('closes when something else waits or runs', () => {
    const { lane, untilInline, single } = laneOf();
    untilInline(20);
    expect(lane.admits({ isAlone: false, inputBytes: 8 })).toBe(false);
    expect(single(20)).toBe(false);
  });

  it('asks once per inline run for the end of the turn, and not at all while closed', () => {
    const { lane, turnEnds, untilInline } = laneOf();
    for (let i = 0; i < 100; i++) lane.admits({ isAlone: i % 2 === 0, inputBytes: 8 });
    expect(turnEnds).toHaveLength(0);
    untilInline(20);
    for (let i = 0; i < 5; i++) lane.admits(ALONE_SMALL);
    expect(turnEnds).toHaveLength(1);
  });

  it('stays closed under steady concurrency without a probe', () => {
    const { lane } = laneOf();
    for (let i = 0; i < 10_000; i++) {
      expect(lane.admits({ isAlone: i % 16 === 0, inputBytes: 8 })).toBe(false);
      lane.measured({ micros: 20, inputBytes: 8, isInline: false });
    }
  });

  it('waits twice as long after each short stay, up to a limit, and starts afresh after a long one', () => {
    const { lane, untilInline, singles } = laneOf();
    const company = () => lane.admits({ isAlone: false, inputBytes: 8 });
    const waits = Array.from({ length: 10 }, () => {
      const wait = untilInline(20);
      company();
      return wait;
    });
    expect(waits).toEqual([16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 4096]);
    untilInline(20);
    singles(100, 20);
    company();
    expect(untilInline(20)).toBe(16);
  });

  it('closes at the first inline run that breaks the bound, and comes back ever later while that goes on', () => {
    const { single, untilInline } = laneOf();
    const waits = Array.from({ length: 4 }, () => {
      const wait = untilInline(20);
      expect(single(5000)).toBe(true);
      expect(single(20)).toBe(false);
      return wait;
    });
    for (const [i, wait] of waits.entries()) if (i > 0) expect(wait).toBeGreaterThan(waits[i - 1] ?? 0);
  });

  it('is not moved by a slow run that was not inline, as long as the average stays within the bound', () => {
    const { lane, untilInline, single } = laneOf();
    untilInline(20);
    lane.measured({ micros: 300, inputBytes: 4096, isInline: false });
    expect(single(20)).toBe(true);
  });

  it('lets a larger request in only after one of its size was measured as short', () => {
    const { lane, single, untilInline } = laneOf();
    untilInline(20);
    expect(single(20, 64)).toBe(false);
    expect(single(20, 64)).toBe(true);
    expect(single(20, 65)).toBe(false);
    lane.measured({ micros: 1000, inputBytes: 32, isInline: false });
    expect(lane.provenBytes).toBe(31);
  });

  it('stays open after one run that is a little late: the machine was busy', () => {
    const { lane, single, untilInline } = laneOf();
    untilInline(20);
    lane.measured({ micros: 300, inputBytes: 8, isInline: true });
    expect(single(20, 8)).toBe(true);
  });

  it('closes when runs are late on average', () => {
    const { lane, single, untilInline } = laneOf();
    untilInline(20);
    for (let run = 0; run < 8; run++) lane.measured({ micros: 300, inputBytes: 8, isInline: true });
    expect(single(20, 8)).toBe(false);
  });
});

const ALONE_SMALL = { isAlone: true, inputBytes: 8 };
