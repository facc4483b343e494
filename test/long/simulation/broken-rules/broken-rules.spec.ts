import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

interface Row {
  readonly rule: string;
  readonly worlds: number;
  readonly found: string | undefined;
}

const run = join(__dirname, '../run.mjs');
/** The rarest failure shows within a thousand worlds. */
const WORLDS = 3000;

it('Every rule of the lease that is taken out shows', async () => {
  const args = [run, '--without', 'all', '--seeds', String(WORLDS), '--as-json'];
  const { stdout } = await promisify(execFile)(process.execPath, args).catch(
    (error: unknown) => error as { stdout: string },
  );
  const rows = JSON.parse(stdout) as Row[];
  expect(rows.filter(({ found }) => found === undefined)).toEqual([]);
  expect(rows.map(({ rule }) => rule)).toEqual(['R1', 'R2', 'R3', 'R4', 'R5', 'R6', 'R7', 'R8', 'R9', 'R10']);
});
