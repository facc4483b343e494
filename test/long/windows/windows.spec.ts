import { join } from 'node:path';
import { ensureBuilt, SERVER_FILE } from '../../support/build';
import { faultsOf, type Run } from './overlaps';
import { runWindows } from './windows-run';

const run = (more: Partial<Run>): Run => ({ workerId: 1, lease: 'a', from: 10, to: 20, count: 5, ...more });

it('finds runs of two leases that overlap', () => {
  expect(faultsOf([run({}), run({ from: 20, to: 30 }), run({ lease: 'b', from: 31, to: 40 })])).toEqual([]);
  expect(faultsOf([run({}), run({ lease: 'b', from: 20, to: 40 })])).toHaveLength(1);
  expect(faultsOf([run({}), run({ lease: 'b', workerId: 2 })])).toEqual([]);
});

it('64 processes with worker windows make no ID twice, whatever faults come', async () => {
  await ensureBuilt();
  const outcome = await runWindows({
    ...{ clients: 64, minutes: 0.5, seed: 20_261, serverFile: SERVER_FILE },
    clientFile: join(__dirname, 'client.mjs'),
  });
  expect(outcome.duplicates).toEqual([]);
  expect(outcome.ids).toBeGreaterThan(1_000_000);
  expect(outcome.workers).toBeGreaterThanOrEqual(64);
}, 300_000);
