import { playSeeds, replaySegments } from '../seeds';
import { SEGMENT_FAULTS } from './segment-faults';

it('Segments come once and ascend, whatever becomes of answers, rows and databases', async () => {
  const { failure, segments } = await playSeeds(1, 80, undefined, 'segments');
  expect(failure).toBeUndefined();
  expect(segments.worlds).toBe(80);
  // Servers that refuse everything break no rule, and faults that never happen prove nothing.
  expect(segments.ids).toBeGreaterThan(100_000);
  expect(SEGMENT_FAULTS.filter((fault) => segments.faults[fault] < 3)).toEqual([]);
});

it('A world of segments goes the same way whenever its seed is played', async () => {
  for (let seed = 1; seed <= 5; seed++) {
    const { trace } = await replaySegments(seed);
    expect(trace.length).toBeGreaterThan(50);
    expect((await replaySegments(seed)).trace).toEqual(trace);
  }
});

it('An answer after its tag was dropped is not what the server knows, so a lost record is an exception', async () => {
  // The row of a tag is deleted during an allocation from a period, and its record later.
  const { failure, segments } = (await replaySegments(848)).totals;
  expect(failure).toBeUndefined();
  expect(segments.excused['a row and its record gone, and IDs of other servers']).toBeGreaterThan(0);
});

it('Segments come once and in order without faults, and no condition is needed', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { totals } = await replaySegments(seed, { faults: [] });
    expect(totals.failure).toBeUndefined();
    expect(Object.values(totals.segments.excused)).toEqual(Object.values(totals.segments.excused).map(() => 0));
  }
});
