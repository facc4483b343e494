import { join } from 'node:path';
import { ensureBuilt, ROOT } from '../../support/build';
import { runEndurance, WARM_UP_ROUNDS } from './endurance-run';
import { describe as tell } from './report';

const ROUNDS = WARM_UP_ROUNDS + 6;
const LIMIT_MS = 600_000;

it(
  'servers and a client hold no more for having switched and reconnected again and again',
  async () => {
    await ensureBuilt();
    const folder = join(ROOT, 'node_modules/.cache/leaf-endurance/test');
    const goesOn = (rounds: number): boolean => rounds < ROUNDS;
    const outcome = await runEndurance({ goesOn, root: ROOT, folder, say: () => undefined });
    process.stdout.write(`${tell(outcome)}\nnode test/long/endurance/run.mjs\n`);
    expect(outcome.courses.filter(({ flat }) => !flat)).toStrictEqual([]);
    expect(outcome.switches).toBeGreaterThan(1000 * ROUNDS);
    expect(outcome.clientCalls).toBeGreaterThan(10 * ROUNDS);
  },
  LIMIT_MS,
);
