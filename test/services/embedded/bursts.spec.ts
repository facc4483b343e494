import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type IdService, Leaf, LeafError } from '@leaf-ids/id';
import { type MariadbServer, startMariadb } from '../../support/servers/mariadb';
import { type PostgresServer, startPostgres } from '../../support/servers/postgres';

let mariadb: MariadbServer;
let postgres: PostgresServer;
let folder: string;
const figures: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'leaf-bursts-'));
  [mariadb, postgres] = await Promise.all([startMariadb(), startPostgres()]);
});

afterAll(async () => {
  rmSync(folder, { recursive: true });
  await Promise.all([mariadb.stop(), postgres.stop()]);
  process.stdout.write(`${['database, tag: calls at once, refused, p99', ...figures].join('\n')}\n`);
});

const SIZES = [1, 300, 1000, 10_000];
const INTERLEAVE = { of: 2, remainder: 0, block: 100 };
const KINDS = [
  ['plain', { step: 100 }, take],
  ['strict', { step: 100, order: 'strict' }, take],
  ['daily', { step: 100, reset: 'daily' }, takeInPeriod],
  ['daily, strict', { step: 100, order: 'strict', reset: 'daily' }, takeInPeriod],
  ['interleaved', { interleave: INTERLEAVE }, take],
] as const;

function take(ids: IdService, tag: string): Promise<bigint> {
  return ids.nextId(tag);
}

async function takeInPeriod(ids: IdService, tag: string): Promise<bigint> {
  return (await ids.nextInPeriod(tag)).number;
}

describe.each([
  ['SQLite', () => `sqlite:${join(folder, 'leaf.sqlite')}`],
  ['MariaDB', () => mariadb.createDatabase()],
  ['PostgreSQL', () => postgres.createDatabase()],
] as const)('a burst of calls for a tag without IDs, on %s', (database, url) => {
  let leaf: Leaf;

  beforeAll(async () => {
    const tags = KINDS.flatMap(([, settings], kind) => SIZES.map((size) => ({ tag: `t${kind}-${size}`, ...settings })));
    leaf = await Leaf.start({ database: await url(), tags });
  });
  afterAll(() => leaf.stop());

  it.each(KINDS.flatMap(([name, , taken], kind) => SIZES.map((size) => [name, size, kind, taken] as const)))(
    'of a %s tag, %d at once: none is refused, no ID comes twice',
    async (name, size, kind, taken) => {
      const times: number[] = [];
      const refused: unknown[] = [];
      const seen = new Set<bigint>();
      const start = performance.now();
      const call = async (): Promise<void> => {
        try {
          seen.add(await taken(leaf.ids, `t${kind}-${size}`));
          times.push(performance.now() - start);
        } catch (error) {
          refused.push(error instanceof LeafError ? error.code : error);
        }
      };
      await Promise.all(Array.from({ length: size }, call));
      times.sort((a, b) => a - b);
      const p99 = times[Math.ceil(times.length * 0.99) - 1] ?? NaN;
      figures.push(`${database}, ${name}: ${size}, ${refused.length}, ${p99.toFixed(1)} ms`);
      expect(refused).toStrictEqual([]);
      expect(seen.size).toBe(size);
    },
  );
});
