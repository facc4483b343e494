import type { ClusterAnswer, CommandResult } from '../../monitor/views';
import type { Sorting } from '../../ui/virtual-table';
import type { ShownServer } from './expired-servers';

/** Two minutes of one answer every two seconds. */
const KEPT_ANSWERS = 60;
/** A page that was just opened has a short line, not one answer over the whole width. */
const FEWEST_ANSWERS = 15;

export function totalRate({ idsPerSecond }: Pick<ShownServer, 'idsPerSecond'>): number {
  return idsPerSecond === undefined ? 0 : idsPerSecond.segment + idsPerSecond.snowflake;
}

export function isUnanswered({ state }: Pick<ShownServer, 'state'>): boolean {
  return state === 'silent' || state === 'refused' || state === 'expired';
}

/** Number of answers that fill the width of a line. */
export function capacityFor(rates: readonly number[]): number {
  return Math.max(FEWEST_ANSWERS, rates.length);
}

/** The sum of several lines. They end at the same time, but a new server has fewer answers. */
export function sumOfRates(all: readonly (readonly number[])[]): number[] {
  const length = Math.max(0, ...all.map((rates) => rates.length));
  const sums = Array<number>(length).fill(0);
  for (const rates of all) {
    const offset = length - rates.length;
    rates.forEach((rate, index) => (sums[offset + index] = (sums[offset + index] ?? 0) + rate));
  }
  return sums;
}

/**
 * IDs per second of each server since the page was opened: one value for each answer, 0 if the server did not report.
 * Servers that are no longer listed are forgotten.
 */
export class ServerRates {
  private rates = new Map<string, readonly number[]>();

  take({ servers }: ClusterAnswer): void {
    this.rates = new Map(
      servers.map((server) => [server.instance, [...this.of(server.instance), totalRate(server)].slice(-KEPT_ANSWERS)]),
    );
  }

  of(instance: string): readonly number[] {
    return this.rates.get(instance) ?? [];
  }
}

export type ServerColumn = 'server' | 'state' | 'rate' | 'worker' | 'clock' | 'tags' | 'details' | 'command';
export type ShownServers = 'all' | 'trouble' | 'ready';

/** The result of the newest command on one server. */
export interface ShownResult {
  readonly result: CommandResult;
  /** The command in words. */
  readonly command: string;
}

export interface ServerRow {
  readonly server: ShownServer;
  /** IDs per second of each answer since the page was opened, oldest first. */
  readonly rates: readonly number[];
  readonly shown: ShownResult | undefined;
}

/** States that need attention come first. */
const STATES: readonly ShownServer['state'][] = [
  'silent',
  'refused',
  'expired',
  'down',
  'degraded',
  'starting',
  'draining',
  'ready',
  'unasked',
];

const MEASURES: Readonly<Record<'state' | 'rate' | 'worker' | 'clock' | 'tags', (row: ServerRow) => number>> = {
  state: ({ server }) => STATES.indexOf(server.state),
  rate: ({ server }) => totalRate(server),
  worker: ({ server }) => server.workerId ?? Infinity,
  clock: ({ server }) => Math.abs(server.snowflake?.clockOffsetMs ?? 0),
  tags: ({ server }) => server.tags?.count ?? -1,
};

const FILTERS: Readonly<Record<ShownServers, (row: ServerRow) => boolean>> = {
  all: () => true,
  trouble: ({ server, shown }) =>
    !['ready', 'unasked'].includes(server.state) || (server.errorsPerSecond ?? 0) > 0 || shown?.result.done === false,
  ready: ({ server }) => server.state === 'ready',
};

function wordsOf({ server }: ServerRow): string {
  const { instance, version = '', tags } = server;
  return [instance, version, ...(tags?.used.map(({ tag }) => tag) ?? [])].join('\n').toLowerCase();
}

/** The servers that match `search`, sorted; ties are sorted by instance. */
export function selectServers(
  rows: readonly ServerRow[],
  search: string,
  shown: ShownServers,
  { by, descending }: Sorting<ServerColumn>,
): ServerRow[] {
  const wanted = search.trim().toLowerCase();
  const found = rows.filter((row) => FILTERS[shown](row) && wordsOf(row).includes(wanted));
  const sign = descending ? -1 : 1;
  const byName = (a: ServerRow, b: ServerRow): number =>
    a.server.instance.localeCompare(b.server.instance, 'en', { numeric: true });
  if (by === 'server' || by === 'details' || by === 'command') return found.sort((a, b) => sign * byName(a, b));
  const measure = MEASURES[by];
  return found.sort((a, b) => {
    const [left, right] = [measure(a), measure(b)];
    return left === right ? byName(a, b) : sign * (left < right ? -1 : 1);
  });
}
