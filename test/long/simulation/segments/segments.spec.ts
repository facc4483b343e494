import { simulateSegments } from './segment-world';

it('Segments come once and ascend, whatever becomes of answers, over restarts', async () => {
  let ids = 0;
  let restarts = 0;
  for (let seed = 1; seed <= 300; seed++) {
    const result = await simulateSegments(seed);
    expect({ seed, problems: result.problems }).toEqual({ seed, problems: [] });
    ids += result.ids;
    restarts += result.restarts;
  }
  expect(ids).toBeGreaterThan(50_000);
  expect(restarts).toBeGreaterThan(300);
});
