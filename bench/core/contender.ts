import { inTurn } from '../harness';
import { type Figure, figure, ratios, summarize, type Summary } from '../report/figures';
import { decimals, formatTable, percent, spread, whole } from '../report/table';

/**
 * One way to generate IDs. Each contender has its own loop, because a shared loop would become megamorphic and slow
 * down every contender.
 */
export interface Contender {
  readonly name: string;
  readonly group: 'baseline' | 'leaf-snowflake' | 'leaf-segment' | 'peer';
  /** Type of the IDs. */
  readonly product: string;
  /** IDs per iteration of the event loop, {@link CHUNK} by default. */
  readonly chunk?: number;
  /**
   * Writes IDs to `ids` from index `from` to `to`, exclusive. Storing each ID prevents dead code elimination.
   *
   * @returns the index after the last ID; less than `to` if the next ID needs an iteration of the event loop
   */
  fill(ids: unknown[], from: number, to: number): number | Promise<number>;
  /** A primitive key for comparing IDs; the ID itself by default. */
  readonly key?: (id: unknown) => bigint | string;
}

export type Fill = Contender['fill'];

/** A contender whose loop is a function of its own. */
export function contender(group: Contender['group'], name: string, product: string, fill: Fill): Contender {
  return { name, group, product, fill };
}

/** Waits if no ID is buffered, as every caller does. */
export async function wait(ids: unknown[], index: number, next: Promise<unknown>): Promise<number> {
  ids[index] = await next;
  return index + 1;
}

/** Large enough to make the iteration of the event loop negligible; a server generates far fewer IDs per iteration. */
const CHUNK = 10_000;
/** More than one segment, so that the sample includes a switch. */
const SAMPLE_SIZE = 1_200_000;
/** 4096 sequence numbers per millisecond. */
export const FORMAT_LIMIT = 4_096_000;

export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** V8 flattens concatenated text when it is read, so a measured text has to be read. */
export function read(id: string): string {
  if (id.charCodeAt(id.length - 1) === 0) throw new Error('The text ends with a null character.');
  return id;
}

export interface ContenderResult {
  readonly contender: Contender;
  readonly rates: readonly number[];
  /** IDs per second. */
  readonly rate: Summary;
  /** Ratio to the first contender in the same round. */
  readonly ratio: Summary;
  /** Of {@link SAMPLE_SIZE} IDs that the measured loop created. */
  readonly duplicates: number;
}

/** Measures all contenders in each round, and then a sample of each; the first one is the baseline. */
export async function measureContenders(
  contenders: readonly Contender[],
  { rounds, roundMs }: { readonly rounds: number; readonly roundMs: number },
): Promise<ContenderResult[]> {
  for (const contender of contenders) await rateOf(contender, roundMs);
  const measured = await inTurn(contenders, rounds, (contender) => rateOf(contender, roundMs));
  const [baseline = []] = measured.values();
  const results: ContenderResult[] = [];
  for (const [contender, rates] of measured) {
    const duplicates = await countDuplicates(contender);
    results.push({ contender, rates, rate: summarize(rates), ratio: summarize(ratios(rates, baseline)), duplicates });
  }
  return results;
}

async function rateOf(contender: Contender, ms: number): Promise<number> {
  const { chunk = CHUNK } = contender;
  const ids = new Array<unknown>(chunk).fill(undefined);
  await contender.fill(ids, 0, chunk);
  let made = 0;
  const start = performance.now();
  let elapsed = 0;
  while (elapsed < ms) {
    const reached = contender.fill(ids, 0, chunk);
    made += typeof reached === 'number' ? reached : await reached;
    await turn();
    elapsed = performance.now() - start;
  }
  return (made / elapsed) * 1000;
}

async function countDuplicates(contender: Contender): Promise<number> {
  const { chunk = CHUNK, key } = contender;
  const ids = new Array<unknown>(SAMPLE_SIZE).fill(undefined);
  for (let made = 0; made < SAMPLE_SIZE;) {
    const reached = contender.fill(ids, made, Math.min(made + chunk, SAMPLE_SIZE));
    made = typeof reached === 'number' ? reached : await reached;
    await turn();
  }
  const distinct = new Set(key === undefined ? ids : ids.map(key));
  if (distinct.has(undefined)) throw new Error(`${contender.name} did not write all IDs.`);
  return SAMPLE_SIZE - distinct.size;
}

export function verdict({ duplicates }: ContenderResult): string {
  return duplicates === 0 ? 'unique' : `${whole(duplicates)} duplicates of ${whole(SAMPLE_SIZE)}`;
}

export function describeContenders(results: readonly ContenderResult[]): string {
  const header = ['contender', 'gives', 'IDs/s', 'min..max', 'ns per ID', 'of counter', 'of format', 'sample'];
  const rows = results.map((result) => {
    const { contender, rate, ratio } = result;
    const ofFormat = contender.group === 'leaf-snowflake' ? percent(rate.median / FORMAT_LIMIT) : '';
    const figures = [decimals(1e9 / rate.median, 1), decimals(ratio.median, 3), ofFormat];
    return [contender.name, contender.product, ...spread(rate), ...figures, verdict(result)];
  });
  const limit = `of format: share of ${whole(FORMAT_LIMIT)} IDs/s, the limit per worker with 12 sequence bits.`;
  return `One thread. Sample: ${whole(SAMPLE_SIZE)} IDs.\n${formatTable(header, rows)}\n${limit}`;
}

/** Duplicates of Leaf, which make the command fail. */
export function contenderFaults(results: readonly ContenderResult[]): string[] {
  const ours = results.filter(({ contender, duplicates }) => contender.group.startsWith('leaf') && duplicates > 0);
  return ours.map((result) => `${result.contender.name}: ${verdict(result)}`);
}

export function contenderFigures(results: readonly ContenderResult[]): Figure[] {
  return results.flatMap(({ contender: { name }, rate, ratio }) => [
    figure(name, rate.median, 'IDs/s'),
    figure(`${name}, of counter`, ratio.median, 'ratio'),
  ]);
}
