import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Porcupine } from '../long/strict/porcupine';
import { DATABASES, runStrict } from '../long/strict/strict-run';
import { ensureBuilt, SERVER_FILE } from '../support/build';

const OPERATIONS = 5000;
/** The first build on a machine fetches Porcupine. */
const BUILD_MS = 300_000;

interface Line {
  readonly call: number;
  readonly return: number;
  readonly ids: readonly (readonly [number, number])[] | 'unknown';
}

let porcupine: Porcupine;
let folder: string;

beforeAll(async () => {
  await ensureBuilt();
  porcupine = await Porcupine.build();
  folder = await mkdtemp(join(tmpdir(), 'leaf-porcupine-'));
}, BUILD_MS);
afterAll(async () => {
  await rm(folder, { recursive: true });
  await porcupine.remove();
});

/** The answered calls; the second one of the result began when the first one had ended. */
async function answered(file: string): Promise<{ lines: Line[]; earlier: number; later: number }> {
  const text = (await readFile(file, 'utf8')).trim();
  const lines = text.split('\n').map((line) => JSON.parse(line) as Line);
  const taken = lines.filter(({ ids }) => ids !== 'unknown');
  const earlier = Math.floor(taken.length / 2);
  const later = taken.findIndex(({ call }) => call > taken[earlier]!.return);
  return { lines: taken, earlier, later };
}

async function judge(lines: readonly Line[]): Promise<boolean> {
  const file = join(folder, 'changed.jsonl');
  await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const { isLinearizable } = await porcupine.judge(file);
  return isLinearizable;
}

it.each(Object.keys(DATABASES) as (keyof typeof DATABASES)[])(
  'Porcupine accepts the history of a strict tag on %s, and refuses it once it is changed',
  async (database) => {
    const historyFile = join(folder, `${database}.jsonl`);
    const say = (): void => undefined;
    await runStrict({ database, operations: OPERATIONS, serverFile: SERVER_FILE, historyFile, say });
    const { isLinearizable, text } = await porcupine.judge(historyFile);
    process.stdout.write(`${text}\n`);
    expect(isLinearizable).toBe(true);

    const { lines, earlier, later } = await answered(historyFile);
    const [first, second] = [lines[earlier]!, lines[later]!];
    expect(await judge(lines)).toBe(true);
    const swapped = lines.with(earlier, { ...first, ids: second.ids }).with(later, { ...second, ids: first.ids });
    expect(await judge(swapped)).toBe(false);
    expect(await judge(lines.with(later, { ...second, ids: first.ids }))).toBe(false);
    const backwards = lines.with(later, { ...second, return: second.call - 1 });
    await expect(judge(backwards)).rejects.toThrow('returned before');
  },
  600_000,
);
