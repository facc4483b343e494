import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Clock, MAX_ID, type TagRow, type TagStore } from '@leaf-ids/core';
import { MAX_TAGS_PER_PAGE, PeriodicTask, reasonOf, writeDurably } from '@leaf-ids/core/internal';
import type { LeafLogger } from '@leaf-ids/persistence';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Later ends are not estimated: without `max`, practically every tag ends later. */
const HORIZON_MS = 1000 * 365 * DAY_MS;
/** Maximum number of tags with samples: those with the fewest IDs left. */
const MOST_TAGS = 10_000;
/** Maximum number of tags in the status and the metrics: those that end first. */
const MOST_ENDS = 100;

/** The estimated time at which a tag runs out of IDs. */
export interface TagEnd {
  readonly tag: string;
  /** Unix milliseconds. */
  readonly endsAt: number;
}

interface Sample {
  readonly at: number;
  readonly maxId: bigint;
}

/** `older` was taken one to two days ago, once the history is that long. */
interface Samples {
  readonly older: Sample;
  readonly newer: Sample;
}

type Position = Pick<TagRow, 'tag' | 'maxId' | 'max'>;

export interface TagEndsOptions {
  /** Keeps the samples over a restart. If omitted, they are lost. */
  readonly file?: string | undefined;
  /** Ends a run under way. */
  readonly signal: AbortSignal;
}

/**
 * Estimates when tags run out of IDs, from the positions of their rows over the last days: these include the IDs that
 * other servers took. Tags that restart each period are left out, and gapless tags, whose rows have no position.
 */
export class TagEnds {
  private readonly task: PeriodicTask;
  private samples: ReadonlyMap<string, Samples> | undefined;
  private first: readonly TagEnd[] = [];

  constructor(
    private readonly store: TagStore,
    private readonly clock: Clock,
    logger: LeafLogger,
    private readonly options: TagEndsOptions,
  ) {
    this.task = new PeriodicTask(
      'tag-ends',
      () => this.update(),
      clock,
      (error) => {
        if (options.signal.aborted) return;
        logger.warn(`The estimate of when tags run out of IDs could not be updated: ${reasonOf(error)}`);
      },
    );
  }

  /** The tags that run out of IDs first, as of the last run, soonest first; at most 100. */
  get list(): readonly TagEnd[] {
    return this.first;
  }

  /** Reads the rows of all tags; joins a run under way. Never rejects. */
  run(): Promise<void> {
    return this.task.run();
  }

  /**
   * When the tag runs out of IDs, in Unix milliseconds; undefined before an hour of history, for a tag that issued no IDs
   * in the last days, and for an end in more than 1000 years.
   */
  endOf(row: Position): number | undefined {
    const older = this.samples?.get(row.tag)?.older;
    const now = this.clock.now();
    if (older === undefined || now - older.at < HOUR_MS || row.maxId <= older.maxId) return undefined;
    const left = (Number(leftOf(row)) * (now - older.at)) / Number(row.maxId - older.maxId);
    return left > HORIZON_MS ? undefined : Math.ceil(now + left);
  }

  private async update(): Promise<void> {
    const before = this.samples ?? (await readSamples(this.options.file));
    const rows = await this.rows();
    const samples = new Map(rows.map((row) => [row.tag, this.next(before.get(row.tag), row)]));
    this.samples = samples;
    this.first = rows
      .flatMap((row) => {
        const endsAt = this.endOf(row);
        return endsAt === undefined ? [] : [{ tag: row.tag, endsAt }];
      })
      .sort((a, b) => a.endsAt - b.endsAt)
      .slice(0, MOST_ENDS);
    if (this.options.file !== undefined && !this.options.signal.aborted) await writeSamples(this.options.file, samples);
  }

  private async rows(): Promise<Position[]> {
    let rows: Position[] = [];
    let after: string | undefined;
    do {
      const page = await this.store.list({ after, limit: MAX_TAGS_PER_PAGE });
      this.options.signal.throwIfAborted();
      for (const { tag, maxId, max, reset, order } of page) {
        if (reset === undefined && order !== 'gapless') rows.push({ tag, maxId, max });
      }
      if (rows.length > MOST_TAGS) rows = rows.sort(byLeft).slice(0, MOST_TAGS);
      after = page.length < MAX_TAGS_PER_PAGE ? undefined : page.at(-1)?.tag;
    } while (after !== undefined);
    return rows;
  }

  private next(known: Samples | undefined, { maxId }: Position): Samples {
    const here = { at: this.clock.now(), maxId };
    // Behind the older sample: the row was restored or created again, or the clock was set back.
    if (known === undefined || maxId < known.older.maxId || known.newer.at > here.at) {
      return { older: here, newer: here };
    }
    const { older, newer } = known;
    // A stop returns IDs that the newer sample counted as taken.
    const lowered = maxId < newer.maxId ? { at: newer.at, maxId } : newer;
    return here.at - newer.at < DAY_MS ? { older, newer: lowered } : { older: lowered, newer: here };
  }
}

/** The number of IDs that the tag can still issue. */
function leftOf({ maxId, max = MAX_ID - 1n }: Position): bigint {
  return maxId > max ? 0n : max - maxId + 1n;
}

function byLeft(a: Position, b: Position): number {
  const [left, right] = [leftOf(a), leftOf(b)];
  return left < right ? -1 : Number(left > right);
}

/** A missing, incomplete or foreign file counts as empty, and so does an entry that is not {@link Samples}. */
async function readSamples(file: string | undefined): Promise<Map<string, Samples>> {
  try {
    const saved: unknown = file === undefined ? {} : JSON.parse(await readFile(file, 'utf8'));
    return new Map(Object.entries(saved as object).flatMap(([tag, entry]) => samplesOf(tag, entry)));
  } catch {
    return new Map();
  }
}

function samplesOf(tag: string, entry: unknown): [string, Samples][] {
  const [olderAt, older, newerAt, newer] = Array.isArray(entry) ? (entry as unknown[]) : [];
  if (!isTime(olderAt) || !isTime(newerAt) || olderAt > newerAt || !isId(older) || !isId(newer)) return [];
  return [[tag, { older: { at: olderAt, maxId: BigInt(older) }, newer: { at: newerAt, maxId: BigInt(newer) } }]];
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && /^\d{1,19}$/.test(value);
}

/** `{"order":[1732000000000,"1",1732086400000,"2001"]}`: the older and the newer sample of each tag. */
async function writeSamples(file: string, samples: ReadonlyMap<string, Samples>): Promise<void> {
  const entries = [...samples].map(([tag, { older, newer }]) => {
    return [tag, [older.at, String(older.maxId), newer.at, String(newer.maxId)]];
  });
  await mkdir(dirname(file), { recursive: true });
  await writeDurably(file, `${JSON.stringify(Object.fromEntries(entries))}\n`);
}
