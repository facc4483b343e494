import { setTimeout as sleep } from 'node:timers/promises';
import type { MariadbServer } from '../../../test/support/servers/mariadb';
import { summarize, type Summary } from '../../report/summary';
import { decimals, formatTable, whole } from '../../report/table';
import { type Busy, observeBusy } from './busy';
import { deleteTags, insertTags, makeGenerator, open } from './database';

const TAGS = 10_000;
const CHANGED = 1000;
const STEP = 1000;
const BUSY_LIMIT_MS = 200;
const SLICE_LIMIT_MS = 10;
const SPIN_MS = 20;

const STAGES = ['idle', 'spin', 'first', 'list', 'same', 'changed'] as const;
type Stage = (typeof STAGES)[number];

const NAMES: Record<Stage, string> = {
  idle: '(idle for 20 ms)',
  spin: `(busy loop for ${SPIN_MS} ms)`,
  first: `first refresh, before the server listens: ${whole(TAGS)} new tags`,
  list: 'only reading the list of tags from the database',
  same: 'refresh without changes',
  changed: `refresh: ${whole(CHANGED)} added, ${whole(CHANGED)} removed`,
};

export type RefreshReport = Record<Stage, readonly Busy[]>;

/** Measures how long a tag refresh occupies the event loop. The first round is cold, as after a start. */
export async function measureRefreshes(mariadb: MariadbServer, rounds: number): Promise<RefreshReport> {
  const database = await open(await mariadb.createDatabase());
  await database.dataSource.query('DELETE FROM leaf_alloc');
  let tags = tagNames(0, TAGS);
  await insertTags(database, tags, STEP);
  const report = Object.fromEntries(STAGES.map((stage) => [stage, [] as Busy[]])) as Record<Stage, Busy[]>;
  for (let round = 0; round < rounds; round++) {
    console.error(`refresh, round ${round + 1} of ${rounds} …`);
    const generator = makeGenerator(database.store, STEP);
    const measure = async (stage: Stage, act: () => unknown): Promise<void> => {
      report[stage].push(await observeBusy(act));
    };
    await measure('idle', () => sleep(SPIN_MS));
    await measure('spin', spin);
    await measure('first', () => generator.refresh.run());
    await measure('list', () => database.store.listTags());
    await measure('same', () => generator.refresh.run());

    const dropped = tags.slice(0, CHANGED);
    for (const tag of dropped) await generator.next(tag);
    const added = tagNames(TAGS + round * CHANGED, CHANGED);
    await deleteTags(database, dropped);
    await insertTags(database, added, STEP);
    await measure('changed', () => generator.refresh.run());
    tags = [...tags.slice(CHANGED), ...added];
    const known = new Set(generator.snapshot().map(({ tag }) => tag));
    if (known.size !== TAGS || !tags.every((tag) => known.has(tag))) throw new Error('The refresh missed some tags.');
    await generator.close();
  }
  await database.dataSource.destroy();
  return report;
}

export function describeRefreshes(report: RefreshReport): string {
  const header = ['', 'busy ms: first', 'median', 'max', 'longest slice ms: first', 'median', 'max', 'wall ms'];
  const rows = STAGES.map((stage) => {
    const busy = report[stage].map(({ busyMs }) => busyMs);
    const longest = report[stage].map(({ longestMs }) => longestMs);
    const wall = summarize(report[stage].map(({ wallMs }) => wallMs));
    return [NAMES[stage], ...columns(busy), ...columns(longest), decimals(wall.median, 1)];
  });
  const verdicts = (['first', 'same', 'changed'] as const).map((stage) => {
    const busy = summarize(report[stage].map(({ busyMs }) => busyMs));
    const longest = summarize(report[stage].map(({ longestMs }) => longestMs));
    const within = (of: 'median' | 'max'): string =>
      busy[of] < BUSY_LIMIT_MS && longest[of] <= SLICE_LIMIT_MS ? 'within' : 'OVER';
    const limits = `${BUSY_LIMIT_MS} ms in slices of ${SLICE_LIMIT_MS} ms`;
    return `${NAMES[stage]}: the median is ${within('median')}, the worst is ${within('max')} ${limits}`;
  });
  return [formatTable(header, rows), ...verdicts].join('\n');
}

export function tagNames(first: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `service-${String(first + index).padStart(6, '0')}-order`);
}

function columns(values: readonly number[]): string[] {
  const { median, max }: Summary = summarize(values);
  return [values[0]!, median, max].map((value) => decimals(value, 1));
}

function spin(): void {
  for (const end = performance.now() + SPIN_MS; performance.now() < end;);
}
