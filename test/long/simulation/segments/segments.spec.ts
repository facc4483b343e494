import { playSeeds, replaySegments } from '../seeds';
import { SEGMENT_FAULTS } from './segment-faults';
import type { SegmentExcuse } from './segment-ledger';

const LOST_MOVE = 'a move lost with a database, before the tags were moved by a server that had seen it';
const SHARES_AFTER_RESTART = 'an interleaved tag after a restart that did not see the newest positions of all shares';

it('Segments come once and ascend, whatever becomes of answers, rows and databases', async () => {
  const { failure, segments } = await playSeeds(1, 80, undefined, 'segments');
  expect(failure).toBeUndefined();
  expect(segments.worlds).toBe(80);
  // Servers that refuse everything break no rule, and faults that never happen prove nothing.
  expect(segments.ids).toBeGreaterThan(100_000);
  expect(SEGMENT_FAULTS.filter((fault) => segments.faults[fault] < 3)).toStrictEqual([]);
});

it('A world of segments goes the same way whenever its seed is played', async () => {
  for (let seed = 1; seed <= 5; seed++) {
    const { trace } = await replaySegments(seed);
    expect(trace.length).toBeGreaterThan(50);
    expect((await replaySegments(seed)).trace).toEqual(trace);
  }
});

it.each<[string, number, SegmentExcuse]>([
  ['a row is deleted, and its record later', 9, 'a row and its record gone, and IDs of other servers'],
  ['a row was inserted again after the copy of a backup', 1633, LOST_MOVE],
  ['a server starts again without the newest shares', 54, SHARES_AFTER_RESTART],
  [
    'a replica is from before the first allocation',
    167,
    'a replica without the first record of a database, before a server that had seen the record',
  ],
])('The exception is named when %s', async (_, seed, excuse) => {
  const { failure, segments } = (await replaySegments(seed)).totals;
  expect(failure).toBeUndefined();
  expect(segments.excused[excuse]).toBeGreaterThan(0);
});

it('A tag that an operator deletes with a list that cannot create it is created by the next operator', async () => {
  expect((await replaySegments(10235)).totals.failure).toBeUndefined();
});

it('A row that a failover moved before its first use there is known when it is deleted and inserted again', async () => {
  expect((await replaySegments(15479)).totals.failure).toBeUndefined();
});

it('A tag whose record a restore has lost is above what others have issued when its row is inserted again', async () => {
  expect((await replaySegments(750)).totals.failure).toBeUndefined();
});

it('An allocation counts only if no older database has answered it while a refresh saw a newer one', async () => {
  expect((await replaySegments(17567)).totals.failure).toBeUndefined();
});

it('A period whose row is gone begins again, also while the list lacks a database that is on record', async () => {
  expect((await replaySegments(18864)).totals.failure).toBeUndefined();
});

it.each<[string, number, SegmentExcuse]>([
  ['a replica is promoted that lacks an earlier promotion', 7329, LOST_MOVE],
  ['a replica is promoted that lacks an earlier promotion, and a period goes on', 1449, LOST_MOVE],
  ['an interleaved tag begins during a refresh', 11548, SHARES_AFTER_RESTART],
])('The exception is not needed when %s', async (_, seed, excuse) => {
  const { failure, segments } = (await replaySegments(seed)).totals;
  expect(failure).toBeUndefined();
  expect(segments.excused[excuse]).toBe(0);
});

it('Segments come once and in order without faults, and no condition is needed', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { totals } = await replaySegments(seed, { faults: [] });
    expect(totals.failure).toBeUndefined();
    expect(Object.values(totals.segments.excused)).toEqual(Object.values(totals.segments.excused).map(() => 0));
  }
});
