import { LeafError } from '../errors/leaf-error';
import type { IdRange } from '../segment/tags/id-range';
import type { Period } from '../segment/tags/periods';
import { type Allocation, type AllocationRequest, SegmentStore, type TagEntry } from '../segment/tags/segment-store';
import type { TagKind } from '../segment/tags/tag-settings';
import type { StepLog } from './step-log';

/** Records the ranges that a segment store gives and takes back. */
export class LoggedSegmentStore extends SegmentStore {
  readonly description: string;

  constructor(
    private readonly store: SegmentStore,
    private readonly log: StepLog,
  ) {
    super();
    this.description = store.description;
  }

  listTags(): Promise<TagEntry[]> {
    return this.store.listTags();
  }

  override tagPages(): AsyncGenerator<readonly TagEntry[], void> {
    return this.store.tagPages();
  }

  findTag(tag: string): Promise<TagEntry | undefined> {
    return this.store.findTag(tag);
  }

  async allocate(tag: string, size: number | undefined): Promise<Allocation> {
    const allocation = await this.store.allocate(tag, size);
    this.taken(tag, allocation);
    return allocation;
  }

  override async allocateAll(requests: readonly AllocationRequest[]): Promise<(Allocation | LeafError)[]> {
    const answers = await this.store.allocateAll(requests);
    answers.forEach((answer, index) => {
      const tag = requests[index]?.tag;
      if (tag !== undefined && !(answer instanceof LeafError)) this.taken(tag, answer);
    });
    return answers;
  }

  override databaseOf(tag: string): string {
    return this.store.databaseOf(tag);
  }

  /** A return whose answer is lost is not recorded: the range is then a gap, or given again by a later `take`. */
  async giveBack(tag: string, range: IdRange): Promise<boolean> {
    this.write('return', tag, range);
    return this.store.giveBack(tag, range);
  }

  raise(tag: string, minimum: bigint): Promise<void> {
    return this.store.raise(tag, minimum);
  }

  override recover(tag: string, minimum: bigint): Promise<void> {
    return this.store.recover(tag, minimum);
  }

  beginPeriod(tag: string, kind: TagKind, period: Period, least: bigint): Promise<void> {
    return this.store.beginPeriod(tag, kind, period, least);
  }

  recordDeleted(tag: string, nextId: bigint): Promise<void> {
    return this.store.recordDeleted(tag, nextId);
  }

  override ping(): Promise<string | undefined> {
    return this.store.ping();
  }

  private taken(tag: string, { from, to, more = [] }: Allocation): void {
    for (const range of [{ from, to }, ...more]) this.write('take', tag, range);
  }

  private write(kind: 'take' | 'return', tag: string, { from, to }: IdRange): void {
    this.log.add({ kind, database: this.databaseOf(tag), tag, from: String(from), to: String(to) });
  }
}
