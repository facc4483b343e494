import { ensureBuilt, SERVER_FILE } from '../../support/build';
import { DATABASES, runNumbers } from './numbers-run';

const SECONDS = 15;

beforeAll(() => ensureBuilt());

it.each(Object.keys(DATABASES) as (keyof typeof DATABASES)[])(
  'documents have one number each, without a gap, whatever is killed, cut off or asked again, on %s',
  async (database) => {
    const say = (): void => undefined;
    const outcome = await runNumbers({ database, seconds: SECONDS, serverFile: SERVER_FILE, say });
    const { numbers, answers, retried, rolledBack, injected, faults } = outcome;
    process.stdout.write(
      `${database}: ${numbers} numbers, ${answers} answers, ${retried} asked again, ${rolledBack} rolled back, ${injected} injected faults, ${faults.length} faults\n`,
    );
    expect(faults.slice(0, 5)).toStrictEqual([]);
    expect(numbers).toBeGreaterThan(100);
    expect(retried).toBeGreaterThan(0);
    expect(rolledBack).toBeGreaterThan(0);
    expect(injected).toBeGreaterThanOrEqual(8);
  },
  600_000,
);
