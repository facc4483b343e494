import { ensureBuilt, SERVER_FILE } from '../../support/build';
import { DATABASES, runStrict } from './strict-run';

const OPERATIONS = 5000;

beforeAll(() => ensureBuilt());

it.each(['postgres', 'mariadb'] as const satisfies (keyof typeof DATABASES)[])(
  'the IDs of a strict tag ascend over three servers that are killed, and over a failover that loses updates, on %s',
  async (database) => {
    const say = (): void => undefined;
    const outcome = await runStrict({ database, operations: OPERATIONS, serverFile: SERVER_FILE, say });
    const { operations, kills, failovers, lost, seconds, violations, disordered, duplicates, faults, traces } = outcome;
    process.stdout.write(
      `${database}: ${operations} operations in ${Math.round(seconds)} s, ${kills} kills, ${failovers} failovers, ${lost} IDs lost, ${violations.length} violations, ${duplicates} duplicates\n`,
    );
    expect(violations.slice(0, 3)).toStrictEqual([]);
    expect(disordered.slice(0, 3)).toStrictEqual([]);
    expect(duplicates).toBe(0);
    expect(faults.slice(0, 3)).toStrictEqual([]);
    expect(traces).toEqual({ accepted: 1, refused: [] });
    expect(operations).toBeGreaterThanOrEqual(OPERATIONS);
    expect(kills).toBeGreaterThanOrEqual(3);
    expect(failovers).toBeGreaterThanOrEqual(1);
    expect(lost).toBeGreaterThan(0);
  },
  600_000,
);
