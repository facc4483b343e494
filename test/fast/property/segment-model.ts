import { LeafError, type IdRange } from '@leaf-ids/core';
import {
  DoubleBuffer,
  IdleRetries,
  LoadTotals,
  messageOf,
  SegmentIdGenerator,
  UsedSources,
  type SegmentOptions,
  type SegmentSnapshot,
} from '@leaf-ids/core/internal';
import { FakeClock } from '@leaf-ids/core/testing';
import { InMemorySegmentStore, type HeldCall, type SegmentRow } from '../../support/fakes/in-memory-segment-store';
import { idsOf } from '../../support/fakes/segment-rig';
import { watch, type Watched } from '../../support/watch';

/** The part of a server that hands IDs out and can be stopped. */
export interface Issuer {
  tryNext(tag: string): bigint | undefined;
  tryNextNumber(tag: string): number | undefined;
  take(tag: string): Promise<bigint>;
  takeRanges(tag: string, count: number): Promise<IdRange[]>;
  /** As `takeRanges`, of consecutive IDs. */
  takeRun(tag: string, count: number): Promise<IdRange[]>;
  refresh(): Promise<void>;
  /** Ends it and gives the rest back. */
  close(): Promise<unknown>;
  /** How many IDs it says that it has handed out. */
  readonly issued: number;
  /** Everything that is left, buffered or taken out of the buffer by `close`. */
  readonly left: readonly IdRange[];
}

export type Start = (store: InMemorySegmentStore, clock: FakeClock, options: SegmentOptions) => Issuer;

interface Server {
  readonly issuer: Issuer;
  readonly store: InMemorySegmentStore;
  readonly issued: { readonly tag: string; readonly ranges: readonly IdRange[] }[];
  crashed: boolean;
}

/** Servers on one storage that answers when the test says so, and the books of every ID. */
export class SegmentModel {
  readonly clock = new FakeClock();
  readonly storage = new InMemorySegmentStore();
  /** Every server there was, those closed and crashed included. */
  readonly servers: Server[] = [];
  readonly calls: Watched<unknown>[] = [];
  /** Answers that hold an ID not above one that the same server answered before they were asked for. */
  readonly descents: unknown[] = [];
  /** Answers whose IDs do not ascend or are not as many as asked for. */
  readonly malformed: unknown[] = [];
  /** Calls that got no ID at once, though the server had some. */
  readonly withheld: unknown[] = [];
  private readonly slots: Server[];
  private readonly deleted = new Map<string, SegmentRow>();

  constructor(
    slots: number,
    readonly tags: readonly string[],
    step: number,
    private readonly options: SegmentOptions,
    private readonly start: Start,
    first: bigint,
  ) {
    for (const tag of tags) this.storage.put(tag, first, step);
    this.slots = Array.from({ length: slots }, () => this.launch());
  }

  take(slot: number, tag: number): void {
    const name = this.tag(tag);
    this.follow(this.server(slot), name, 1, (issuer) => issuer.take(name).then(single));
  }

  tryNext(slot: number, tag: number, asNumber: boolean): void {
    const name = this.tag(tag);
    const id = tryNext(this.server(slot).issuer, name, asNumber);
    if (id !== undefined) this.follow(this.server(slot), name, 1, () => Promise.resolve(single(id)));
  }

  /** A single call, made when nothing but answers of the storage is under way. */
  async tryBuffered(slot: number, tag: number, asNumber: boolean): Promise<void> {
    const server = this.server(slot);
    const name = this.tag(tag);
    await this.clock.advance(0);
    const answered = idsOf(...server.store.answered.filter((range) => range.tag === name)).length;
    const buffered = answered - issuedBy(server, name).length;
    const id = tryNext(server.issuer, name, asNumber);
    if (id !== undefined) this.follow(server, name, 1, () => Promise.resolve(single(id)));
    else if (buffered > 0) this.withheld.push({ tag: name, buffered });
  }

  takeRanges(slot: number, tag: number, count: number): void {
    const name = this.tag(tag);
    this.follow(this.server(slot), name, count, (issuer) => issuer.takeRanges(name, count));
  }

  takeRun(slot: number, tag: number, count: number): void {
    const name = this.tag(tag);
    this.follow(this.server(slot), name, count, async (issuer) => {
      const ranges = await issuer.takeRun(name, count);
      const [run] = ranges;
      const to = ranges.at(-1)?.to ?? 0n;
      return run === undefined ? [] : [{ from: run.from, to }];
    });
  }

  refresh(slot: number): void {
    this.calls.push(watch(this.server(slot).issuer.refresh()));
  }

  /** Somebody else takes a range. */
  allocateElsewhere(tag: number, size: number): void {
    const row = this.storage.rows.get(this.tag(tag));
    if (row !== undefined) row.maxId += BigInt(size);
  }

  /** A failover that lost updates. */
  goBackwards(tag: number, by: number): void {
    const row = this.storage.rows.get(this.tag(tag));
    if (row !== undefined) row.maxId = row.maxId > BigInt(by) ? row.maxId - BigInt(by) : 1n;
  }

  /** Deletes a row, or puts back the one that was deleted. */
  toggleRow(tag: number): void {
    const name = this.tag(tag);
    const row = this.storage.rows.get(name);
    if (row === undefined) {
      this.storage.rows.set(name, this.deleted.get(name)!);
    } else {
      this.deleted.set(name, row);
      this.storage.rows.delete(name);
    }
  }

  /** Deletes a row by SQL, or inserts the deleted one again at 1. */
  reinsertRow(tag: number): void {
    this.toggleRow(tag);
    const row = this.storage.rows.get(this.tag(tag));
    if (row !== undefined) row.maxId = 1n;
  }

  /** Deletes a row as the API does, or inserts the deleted one again at 1 by SQL. */
  reinsertTag(tag: number): void {
    const name = this.tag(tag);
    const row = this.storage.rows.get(name);
    if (row !== undefined) void this.storage.recordDeleted(name, row.maxId);
    this.reinsertRow(tag);
  }

  /** Stops a server in order, and starts its successor without waiting. */
  restart(slot: number): void {
    const server = this.server(slot);
    this.calls.push(watch(server.issuer.close()));
    this.slots[slot % this.slots.length] = this.launch();
  }

  /** Ends a server on the spot: what it holds is gone, what it asked for may have been carried out. */
  crash(slot: number): void {
    const server = this.server(slot);
    server.crashed = true;
    server.store.breakDown(new Error('crashed'));
    for (const call of [...server.store.held]) call.fail(new Error('crashed'));
    this.slots[slot % this.slots.length] = this.launch();
  }

  /** One of the calls at the gates of all servers. */
  held(index: number): HeldCall | undefined {
    const held = this.servers.flatMap(({ store }) => store.held);
    return held[index % Math.max(1, held.length)];
  }

  /** Heals the storage and lets every call come to its end. */
  async finish(): Promise<void> {
    for (const { store } of this.servers) store.release();
    await this.clock.advance(10_000);
  }

  /** Codes of all refusals. */
  get refusals(): Set<string> {
    const errors = this.calls.flatMap(({ error }) => (error === undefined ? [] : [error]));
    return new Set(errors.map((error) => (error instanceof LeafError ? error.code : messageOf(error))));
  }

  /** Every ID of a tag that was answered, by any server. */
  issuedOf(tag: string): bigint[] {
    return this.servers.flatMap((server) => issuedBy(server, tag));
  }

  private tag(index: number): string {
    return this.tags[index % this.tags.length]!;
  }

  private server(slot: number): Server {
    return this.slots[slot % this.slots.length]!;
  }

  private launch(): Server {
    const store = new InMemorySegmentStore(this.storage.rows, this.storage.deleted);
    store.hold();
    const issuer = this.start(store, this.clock, this.options);
    const server: Server = { issuer, store, issued: [], crashed: false };
    this.servers.push(server);
    return server;
  }

  private follow(server: Server, tag: string, count: number, ask: (issuer: Issuer) => Promise<IdRange[]>): void {
    const above = issuedBy(server, tag).reduce((highest, id) => (id > highest ? id : highest), 0n);
    const answer = ask(server.issuer).then((ranges) => {
      if (server.crashed) return;
      server.issued.push({ tag, ranges });
      const ids = idsOf(...ranges);
      if (ids.some((id) => id <= above)) this.descents.push({ tag, ids, above });
      if (ids.length !== count || !isAscending(ids)) this.malformed.push({ tag, ids, count });
    });
    this.calls.push(watch(answer));
  }
}

/** How many IDs a server says that it has handed out, and how many it has. */
export function countsOf({ issuer, issued }: Server): { counted: number; answered: number } {
  return { counted: issuer.issued, answered: idsOf(...issued.flatMap(({ ranges }) => ranges)).length };
}

/** What the storage gave a server of a tag, and what became of it. */
export function booksOf(server: Server, tag: string): { granted: bigint[]; found: bigint[] } {
  const { issuer, store } = server;
  const ofTag = (range: { readonly tag: string }): boolean => range.tag === tag;
  return {
    granted: idsOf(...store.granted.filter(ofTag)),
    found: [...issuedBy(server, tag), ...idsOf(...issuer.left, ...store.lost.filter(ofTag))],
  };
}

/** A server that is one double buffer. */
export function bufferOf(tag: string): Start {
  return (store, clock, options) => {
    const closing = new AbortController();
    let rest: readonly IdRange[] = [];
    const buffer = new DoubleBuffer(tag, {
      store,
      clock,
      random: () => 0,
      options,
      idleRetries: new IdleRetries(clock),
      used: new UsedSources(),
      closing: closing.signal,
      totals: new LoadTotals(),
      onLoadFailed: () => undefined,
    });
    return {
      tryNext: () => buffer.tryNext(),
      tryNextNumber: () => buffer.tryNextNumber(),
      take: () => buffer.take(),
      takeRanges: (_, count) => buffer.takeRanges(count),
      takeRun: (_, count) => buffer.takeRanges(count, true),
      refresh: () => Promise.resolve(),
      close: async () => {
        closing.abort();
        rest = await buffer.retire(() => new LeafError('LEAF_NOT_READY', 'Stopping.'));
        for (const range of rest) if (!(await store.giveBack(tag, range))) return;
      },
      get issued() {
        return buffer.issued;
      },
      get left() {
        const { current, next, spare } = buffer.snapshot();
        return [...restOf(current), ...restOf(next), ...spare.flatMap(restOf), ...rest];
      },
    };
  };
}

/** A server that is one double buffer, of a tag whose blocks of 4 IDs do not adjoin. */
export function blocksOf(tag: string): Start {
  return (store, clock, options) => {
    store.most = 4;
    store.gap = 1n;
    return bufferOf(tag)(store, clock, options);
  };
}

/** A server that is one generator. Its books are not kept: what it gives back is its own affair. */
export const generator: Start = (store, clock, options) => {
  const events = { onLoadFailed: () => undefined, onRefreshFailed: () => undefined };
  const ids = new SegmentIdGenerator(store, clock, () => 0, options, events);
  return {
    tryNext: (tag) => ids.tryNext(tag),
    tryNextNumber: (tag) => ids.tryNextNumber(tag),
    take: (tag) => ids.next(tag),
    takeRanges: async (tag, count) => ids.tryRanges(tag, count) ?? ids.takeRanges(tag, count),
    takeRun: async (tag, count) => ids.tryRanges(tag, count, true) ?? ids.takeRanges(tag, count, true),
    refresh: () => ids.refresh.run(),
    close: () => ids.close(),
    get issued() {
      return ids.issued;
    },
    left: [],
  };
};

function restOf(view: SegmentSnapshot | undefined): IdRange[] {
  return view === undefined ? [] : [{ from: view.position, to: view.to }];
}

function issuedBy(server: Server, tag: string): bigint[] {
  return server.issued.flatMap((answer) => (answer.tag === tag ? idsOf(...answer.ranges) : []));
}

/** As a number only if a number can represent the ID exactly. */
function tryNext(issuer: Issuer, tag: string, asNumber: boolean): bigint | undefined {
  const number = asNumber ? issuer.tryNextNumber(tag) : undefined;
  if (number === undefined) return issuer.tryNext(tag);
  if (!Number.isSafeInteger(number)) throw new Error(`The number ${number} is not exact.`);
  return BigInt(number);
}

function single(id: bigint): IdRange[] {
  return [{ from: id, to: id }];
}

function isAscending(ids: readonly bigint[]): boolean {
  return ids.every((id, i) => i === 0 || id > ids[i - 1]!);
}
