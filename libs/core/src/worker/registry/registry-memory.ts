import type { Clock } from '../../clock/clock';
import { LeafError } from '../../errors/leaf-error';
import { formatTime } from '../../util/json';
import { defaultLayout } from '../../snowflake/bit-layout';
import { formatInstance } from '../records/instance';
import { mayBeUsed } from '../records/record-relation';
import type { RegistryDocument } from '../records/registry-document';
import type { StoredRegistry, StoredWorker, WorkerRecord, WorkerStore } from '../records/worker-store';

export interface RegistryMemoryOptions {
  /** Name of the strategy of this server. */
  readonly strategy: string;
  /** Bit layout and epoch of this server's IDs. */
  readonly layout: string;
  /** Lease TTL of this server, in milliseconds. */
  readonly leaseTtlMs: number;
  /** Whether this server may issue IDs above its recorded ceiling, from its worker file. */
  readonly continues: boolean;
  /**
   * Grace period for newcomers in a new generation, in milliseconds, given the longest lease TTL; 0 for a store that
   * never loses a confirmed write.
   */
  readonly graceMs: (leaseTtlMs: number) => number;
  /** Largest offset between the clocks of two servers, in milliseconds. */
  readonly clockOffsetMs: number;
  /** Creates a unique registry ID. */
  readonly newId: () => string;
}

/** The registry as read, with a current document. */
export interface OpenRegistry {
  readonly stored: StoredRegistry;
  readonly document: RegistryDocument;
}

/** Identifies a history of a registry. */
export type RegistryHistory = Pick<RegistryDocument, 'id' | 'generation'> & {
  readonly origin?: string | undefined;
  readonly began?: number | undefined;
};

/** The history of a registry that has not answered yet. */
export const UNKNOWN_REGISTRY: RegistryHistory = { id: '', generation: 0 };

/**
 * Whether two reads belong to the same history. After two failovers in a row, the second to a copy without the first,
 * both generations have the same number, but different origins or start times.
 */
export function isSameHistory(before: RegistryHistory, now: RegistryHistory): boolean {
  if (before.id !== now.id || before.generation !== now.generation) return false;
  return !isOther(before.origin, now.origin) && !isOther(before.began, now.began);
}

/** Whether the registry has returned the history `before`, even if no generation has started yet. */
export function isAnswerOf(before: RegistryHistory, { document, origin }: StoredRegistry): boolean {
  return document !== undefined && isSameHistory(before, { ...document, origin });
}

/** A generation that this server has read. */
interface Seen {
  readonly generation: string;
  /** The latest value of `registering`. */
  readonly registering: number | undefined;
  /** When the generation was first read, by the monotonic clock. */
  readonly since: number;
  /** When the grace period began, by the monotonic clock and by the wall clock. */
  readonly at: number;
  readonly wall: number;
}

/** Receives every read of the registry, before it is checked. */
export type AnswerListener = (answer: StoredRegistry) => Promise<void> | void;

export interface OpenOptions {
  readonly onAnswer?: AnswerListener;
  /**
   * Whether this server holds a worker ID of the registry, with a ceiling that has not passed: it then has the layout
   * and the strategy of the registry, and may write a missing document again. False by default.
   */
  readonly holds?: boolean;
}

function isOther<T>(before: T | undefined, now: T | undefined): boolean {
  return before !== undefined && now !== undefined && before !== now;
}

/** Total length of a grace period that is held open, in grace periods: a server that keeps failing must not block others. */
const MAX_GRACES = 10;
/** Maximum number of attempts to write the document while other servers change it. */
const ATTEMPTS = 100;
/** How often a newcomer looks whether a missing document was written again: the longest time between two reports. */
const LOOK_MS = 3000;

/**
 * The document of the registry (R5, R6, R12): it identifies the registry and the layout of its servers, and shows whether
 * the registry may have lost writes.
 *
 * A registry without a document is new or was emptied. While it has records that may be in use, only their holders write
 * the document again: a newcomer does not know their layout and strategy. A registry whose data has a different origin was failed over and
 * may lack its latest writes. In both cases a new generation starts. No server acquires a worker ID until one of them
 * has observed the generation for the grace period, by its monotonic clock; holders register again in that time. That
 * server then writes the floor, and newcomers issue only above it.
 */
export class RegistryMemory {
  /** The latest generation. */
  private seen: Seen | undefined;

  constructor(
    private readonly store: WorkerStore,
    private readonly clock: Clock,
    private readonly options: RegistryMemoryOptions,
  ) {}

  /**
   * Reads the document. If necessary, starts a generation, and adds the settings that others must know (R12), before
   * this server acquires anything.
   *
   * @throws LeafError `LEAF_LAYOUT_MISMATCH`, `LEAF_REGISTRY_MISMATCH`, or the errors of the store; `LEAF_NOT_READY` for
   *   a newcomer, while the document is missing and worker IDs may be in use
   */
  async open({ onAnswer, holds = false }: OpenOptions = {}): Promise<OpenRegistry> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const stored = await this.store.readRegistry();
      await onAnswer?.(stored);
      const { document, origin } = stored;
      if (document === undefined) await this.assertUnused(holds);
      else this.assertSame(document);
      if (document?.origin !== origin) {
        await this.store.writeRegistry(stored, this.begin(document, origin));
      } else {
        const raised = this.withOwnSettings(document);
        if (raised === document) {
          this.see(document);
          return { stored, document };
        }
        await this.store.writeRegistry(stored, raised);
      }
    }
    throw this.contested();
  }

  /**
   * Returns the remaining grace period for newcomers in milliseconds, 0 when it has ended. The caller must open the
   * registry again before it acquires, because this call may have written the floor.
   *
   * @param compareClock throws when our clock differs from those of others: a floor in the future would block all
   *   newcomers
   */
  async settle({ stored, document }: OpenRegistry, compareClock: () => Promise<unknown>): Promise<number> {
    const { seen, clock } = this;
    const graceMs = this.options.graceMs(document.horizonMs ?? 0);
    if (document.floor !== undefined || seen === undefined) return 0;
    const watched = clock.monotonic() - seen.at;
    if (Math.abs(clock.now() - seen.wall - watched) > this.options.clockOffsetMs) {
      // The wall clock was stepped, so the floor would be wrong by that step. Restart the grace period.
      this.seen = { ...seen, at: clock.monotonic(), wall: clock.now() };
      return graceMs;
    }
    if (watched < graceMs) return graceMs - watched;
    await compareClock();
    await this.store.writeRegistry(stored, { ...document, floor: Math.ceil(seen.wall + watched) });
    return 0;
  }

  /**
   * Restarts the grace period for newcomers, if it has not ended: this server still registers worker IDs again. Does so
   * for a limited time.
   */
  async holdOpen(): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { stored, document } = await this.open();
      if (document.floor !== undefined) return;
      const registering = (document.registering ?? 0) + 1;
      if (await this.store.writeRegistry(stored, { ...document, registering })) return;
    }
    throw this.contested();
  }

  /** Records that the store has assigned `workerId` by its own numbering. */
  async raiseHighest(workerId: number, options: OpenOptions): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { stored, document } = await this.open(options);
      if (document.highest >= workerId) return;
      if (await this.store.writeRegistry(stored, { ...document, highest: workerId })) return;
    }
    throw this.contested();
  }

  private contested(): LeafError {
    return new LeafError(
      'LEAF_REGISTRY_UNREACHABLE',
      `Other servers changed the document of the worker registry at ${this.store.description} ${ATTEMPTS} times in a row. This server retries automatically.`,
      { retryAfterMs: 1000 },
    );
  }

  private begin(document: RegistryDocument | undefined, origin: string): RegistryDocument {
    const { strategy, layout, graceMs, newId, leaseTtlMs: own, continues } = this.options;
    const now = this.clock.now();
    const kept = document ?? { id: newId(), madeAt: now, strategy, layout, highest: -1, generation: 0, continues };
    const leaseTtlMs = Math.max(own, document?.horizonMs ?? 0);
    const floor = graceMs(leaseTtlMs) === 0 ? 0 : undefined;
    return { ...kept, generation: kept.generation + 1, origin, began: now, floor, horizonMs: leaseTtlMs };
  }

  private withOwnSettings(document: RegistryDocument): RegistryDocument {
    const leaseTtlMs = Math.max(document.horizonMs ?? 0, this.options.leaseTtlMs);
    const continues = this.options.continues || document.continues;
    return leaseTtlMs === document.horizonMs && continues === document.continues
      ? document
      : { ...document, horizonMs: leaseTtlMs, continues };
  }

  private see({ id, generation, origin, began, registering, horizonMs = 0 }: RegistryDocument): void {
    const { seen, clock } = this;
    const name = JSON.stringify([id, generation, origin, began]);
    const at = clock.monotonic();
    if (seen?.generation !== name) {
      this.seen = { generation: name, registering, since: at, at, wall: clock.now() };
    } else if (seen.registering !== registering && at - seen.since < MAX_GRACES * this.options.graceMs(horizonMs)) {
      this.seen = { ...seen, registering, at, wall: clock.now() };
    }
  }

  /** R6: no worker ID may be in use under a layout or a strategy that this server does not know. */
  private async assertUnused(holds: boolean): Promise<void> {
    const { store, options } = this;
    const now = this.clock.now();
    const isUsed = (record: WorkerRecord): boolean => mayBeUsed(record, now, options.clockOffsetMs);
    const otherStrategies = await store.otherStrategies(isUsed);
    if (otherStrategies !== undefined) {
      throw new LeafError(
        'LEAF_REGISTRY_MISMATCH',
        `A worker registry other than ${options.strategy} is in use at ${store.description}: ${otherStrategies}. Both would assign the same worker IDs. Set the option snowflake.registry as on those servers, or move all servers: docs/operations/worker-registry.md#changing-the-registry.`,
      );
    }
    if (holds) return;
    // Java servers write no document and no lease. Their layout is the default one.
    const isJava = ({ leaseId }: WorkerRecord): boolean =>
      leaseId === undefined && options.layout === defaultLayout().fingerprint;
    const used: StoredWorker[] = [];
    for (const stored of await store.list()) {
      const { record, workerId } = stored;
      if (isUsed(record) && !isJava(record) && !(await store.isUnheld(workerId))) used.push(stored);
    }
    const [last] = used.sort((a, b) => b.record.ceiling - a.record.ceiling);
    if (last === undefined) return;
    const { workerId, record } = last;
    const until = formatTime(record.ceiling + options.clockOffsetMs);
    throw new LeafError(
      'LEAF_NOT_READY',
      `The document of the worker registry at ${store.description} is missing, and ${used.length} worker IDs may be in use, for example worker ${workerId} by ${formatInstance(record.instance)}. This server acquires one when a server that holds one has written the document again, or at ${until}, when the last one has expired: docs/operations/worker-registry.md#when-the-registry-loses-its-history.`,
      { retryAfterMs: LOOK_MS },
    );
  }

  private assertSame({ strategy, layout }: RegistryDocument): void {
    if (strategy !== this.options.strategy) {
      throw new LeafError(
        'LEAF_REGISTRY_MISMATCH',
        `The servers at ${this.store.description} use the worker registry ${strategy}, this server uses ${this.options.strategy}. Both would assign the same worker IDs. Set the option snowflake.registry to ${strategy}, or move all servers: docs/operations/worker-registry.md#changing-the-registry.`,
      );
    }
    if (layout === this.options.layout) return;
    throw new LeafError(
      'LEAF_LAYOUT_MISMATCH',
      `The servers of ${this.store.description} use the layout ${layout}, this server uses ${this.options.layout}. Their IDs could collide. Set the option snowflake.layout as on the other servers, or change the layout of all of them: docs/operations/worker-registry.md#changing-the-layout.`,
    );
  }
}
