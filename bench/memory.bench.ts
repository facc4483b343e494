import { runPart } from './harness';
import { SNOWFLAKE_PATH } from './http/request';
import { Sandbox } from './http/sandbox';
import { type ConnectionReport, measureConnections, measureStart, type StartReport, Subject } from './memory/subject';
import { measureTags, type TagReport } from './memory/tags';
import { below, figure, summarize } from './report/figures';
import { formatTable, spread, whole } from './report/table';
import { startMariadb, startZookeeper } from './services';

const FULL = { rounds: 3, tags: [20_000, 100_000], used: 100_000, connections: [2000, 10_000] };
const QUICK = { rounds: 1, tags: [10_000, 50_000], used: 50_000, connections: [1000, 5000] };

interface Round {
  /** Default settings and one data folder: the first start, one more, and one that is idle for a while. */
  readonly first: StartReport;
  readonly warm: readonly StartReport[];
  readonly zookeeper: StartReport;
  readonly mysql: StartReport;
  /** Few tags and many tags; the latter are used at the end. */
  readonly tags: readonly [few: TagReport, many: TagReport];
  readonly connections: readonly ConnectionReport[];
}

runPart('memory', { full: FULL, quick: QUICK }, async (plan, main) => {
  const sandbox = new Sandbox();
  const subject = new Subject(sandbox, main);
  const [mariadb, ensemble] = await Promise.all([startMariadb(sandbox), startZookeeper(sandbox)]);
  const rounds: Round[] = [];
  for (let round = 1; round <= plan.rounds; round++) {
    console.error(`round ${round} of ${plan.rounds} …`);
    const data = { LEAF_DATA_DIR: subject.folder() };
    const zk = { LEAF_SEGMENT_ENABLED: 'false', LEAF_SNOWFLAKE_REGISTRY: 'zk_recycle', LEAF_ZOOKEEPER: ensemble };
    const sql = { LEAF_SNOWFLAKE_REGISTRY: 'mysql', LEAF_DATABASE_URL: mariadb };
    rounds.push({
      first: await measureStart(subject, data),
      warm: [await measureStart(subject, data), await measureStart(subject, data, { rest: true })],
      zookeeper: await measureStart(subject, { ...data, ...zk }, { idPath: SNOWFLAKE_PATH }),
      mysql: await measureStart(subject, { ...data, ...sql }),
      tags: [await measureTags(subject, plan.tags[0]!, 0), await measureTags(subject, plan.tags[1]!, plan.used)],
      connections: await measureConnections(subject, sandbox, plan.connections),
    });
  }
  const rows = rowsOf(rounds);
  const table = rows.map(([name, values, unit, target]) => [
    ...[name, ...spread(summarize(values))],
    ...[target === undefined ? '' : `< ${whole(target)}`, unit],
  ]);
  return {
    text: formatTable(['built server', 'median', 'spread', 'wanted', 'unit'], table),
    figures: rows.map(([name, values, unit]) => figure(name, summarize(values).median, unit)),
    targets: rows.flatMap(([name, values, unit, target]) =>
      target === undefined ? [] : [below(name, summarize(values).median, target, unit)],
    ),
    details: { measured: rounds },
  };
});

/** The last element is an upper limit of the median. */
type Row = readonly [name: string, values: readonly number[], unit: string, target?: number];

const BYTES_A_MIB = 2 ** 20;
const BYTES_A_MB = 1e6;

function rowsOf(rounds: readonly Round[]): Row[] {
  const megabytes = (mebibytes: number): number => (mebibytes * BYTES_A_MIB) / BYTES_A_MB;
  const of = (value: (round: Round) => number): number[] => rounds.map(value);
  const warm = rounds.flatMap((round) => round.warm);
  const count = rounds[0]?.tags[1].used ?? NaN;
  const after = '2 s after the start';
  return [
    ['idle for 30 s, defaults', of((r) => megabytes(r.warm.at(-1)!.restedMiB)), 'MB', 110],
    [`${after}, defaults`, warm.map(({ idleMiB }) => megabytes(idleMiB)), 'MB'],
    [`${after}, registry zk_recycle`, of((r) => megabytes(r.zookeeper.idleMiB)), 'MB'],
    [`${after}, registry mysql on MariaDB`, of((r) => megabytes(r.mysql.idleMiB)), 'MB'],
    ['known tag', of(perKnownTag), 'B', 1000],
    ['used tag, in addition to known tag', of(perUsedTag), 'B', 1000],
    ['used tag, total', of((round) => perKnownTag(round) + perUsedTag(round)), 'B'],
    [`server with ${whole(count)} used tags`, of((r) => megabytes(r.tags[1].usedMiB)), 'MB', 300],
    ['idle connection', of(perConnection), 'B', 12_000],
    ['first start to the first ID', of(({ first }) => first.startMs), 'ms'],
    ['start to the first ID', warm.map(({ startMs }) => startMs), 'ms', 1000],
  ];
}

/** Difference between two servers, which cancels memory unrelated to tags, including garbage. */
function perKnownTag({ tags: [few, many] }: Round): number {
  return ((many.knownMiB - few.knownMiB) * BYTES_A_MIB) / (many.tags - few.tags);
}

/** Difference between two times, after the same number of requests for one tag, which cancels memory of requests. */
function perUsedTag({ tags: [, many] }: Round): number {
  return ((many.usedMiB - many.oneTagMiB) * BYTES_A_MIB) / many.used;
}

function perConnection({ connections: [few, many] }: Round): number {
  return ((many!.residentMiB - few!.residentMiB) * BYTES_A_MIB) / (many!.connections - few!.connections);
}
