import { join } from 'node:path';
import { ensureBuilt, SERVER_FILE } from '../../support/build';
import { announcedSeed } from '../../support/seeds';
import { IssuedRuns } from './checker';
import { runJoint } from './joint-run';

it('finds an ID that two processes were given', () => {
  const issued = new IssuedRuns();
  issued.add(
    [
      ['10', 5],
      ['100', 1],
    ],
    'a',
  );
  issued.add([['15', 5]], 'b');
  expect([issued.count, issued.duplicates()]).toEqual([11, []]);
  issued.add([['12', 1]], 'b');
  issued.add([['19', 90]], 'c');
  expect(issued.duplicates()).toEqual([
    '12 of b is within 10..14 of a',
    '19 of c is within 15..19 of b',
    '100 of a is within 19..108 of c',
  ]);
});

it('processes with worker windows and prefetched ranges take no ID twice, whatever faults come', async () => {
  await ensureBuilt();
  const outcome = await runJoint({
    commands: { node: [process.execPath, join(process.cwd(), 'test/conformance/drivers/node.mjs')] },
    ...{
      processes: 16,
      minutes: 0.5,
      seed: announcedSeed(),
      serverFile: SERVER_FILE,
      say: () => undefined,
    },
  });
  expect(outcome.duplicates).toStrictEqual([]);
  expect(outcome.unexpected).toStrictEqual([]);
  expect(outcome.snowflakes).toBeGreaterThan(10_000);
  expect(outcome.segments).toBeGreaterThan(10_000);
  expect(outcome.traces.refused).toStrictEqual([]);
  expect(outcome.traces.accepted).toBeGreaterThan(16);
}, 300_000);
