import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { once } from 'node:events';
import { Starvation } from './starvation';
import { until } from './until';

const SPIN = 'process.stdout.write("spinning"); for (;;);';

it('counts what the processes below this one wait for a processor', async () => {
  // One more than there are processors: at any time one of them waits.
  const spinning = Array.from({ length: availableParallelism() + 1 }, () => spawn(process.execPath, ['-e', SPIN]));
  await Promise.all(spinning.map(({ stdout }) => once(stdout, 'data')));
  const starvation = new Starvation();
  await until('waits', () => starvation.ms > 100);
  for (const child of spinning) child.kill('SIGKILL');
  await Promise.all(spinning.map((child) => once(child, 'close')));
  // Processes that have ended do not count.
  const rest = new Starvation();
  expect(rest.ms).toBeLessThan(starvation.ms + 100);
});
