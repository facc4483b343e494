import type { Clock } from '../clock/clock';
import { LeafError } from '../errors/leaf-error';
import type { RegistryDocument } from './registry-document';
import type { StoredRegistry, WorkerStore } from './worker-store';

export interface RegistryMemoryOptions {
  /** Name of the strategy of this server. */
  readonly strategy: string;
  /** Bits and epoch of this server's IDs. */
  readonly layout: string;
  /** How long newcomers wait in a new generation, in milliseconds; 0 for a store that loses no confirmed write. */
  readonly graceMs: number;
  /** Largest offset between the clocks of two servers, in milliseconds. */
  readonly maxClockOffsetMs: number;
  /** A registry ID never used before. */
  readonly newId: () => string;
}

/** The registry as read, its document in place. */
export interface OpenRegistry {
  readonly stored: StoredRegistry;
  readonly document: RegistryDocument;
}

/** Which history of a registry something belongs to. */
export type RegistryHistory = Pick<RegistryDocument, 'id' | 'generation'> & {
  readonly origin?: string | undefined;
  readonly began?: number | undefined;
};

/**
 * Whether two reads belong to the same history. After two failovers in a row, the second to a copy that lacks the
 * first, both generations have the same number: their origins differ, or at least the times at which they began.
 */
export function isSameHistory(before: RegistryHistory, now: RegistryHistory): boolean {
  if (before.id !== now.id || before.generation !== now.generation) return false;
  return !isOther(before.origin, now.origin) && !isOther(before.began, now.began);
}

/** Whether the registry has answered with the history `before`, even where no generation has begun yet. */
export function isAnswerOf(before: RegistryHistory, { document, origin }: StoredRegistry): boolean {
  return document !== undefined && isSameHistory(before, { ...document, origin });
}

/** Gets every answer of the registry, even one that is refused afterwards. */
export type AnswerListener = (answer: StoredRegistry) => Promise<void> | void;

function isOther<T>(before: T | undefined, now: T | undefined): boolean {
  return before !== undefined && now !== undefined && before !== now;
}

/** Attempts at a write of the document that other servers keep changing. */
const ATTEMPTS = 100;

/**
 * The registry's memory of itself (R5, R6): one document that says which registry this is, which layout its servers
 * share, and whether it may have forgotten writes.
 *
 * A registry without a document is new or was emptied. One whose data comes from another origin was failed over, and
 * may lack its newest writes. Both begin a generation. No server acquires a worker ID until one of them has watched the
 * generation for the grace, by its monotonic clock: holders register again meanwhile. That server then writes the
 * floor, and newcomers issue only above it.
 */
export class RegistryMemory {
  /** The newest generation, and when this server first saw it, by the monotonic and by the wall clock. */
  private seen: { readonly generation: string; readonly at: number; readonly wall: number } | undefined;

  constructor(
    private readonly store: WorkerStore,
    private readonly clock: Clock,
    private readonly options: RegistryMemoryOptions,
  ) {}

  /**
   * Reads the document, and begins a generation where there has to be one.
   *
   * @param onAnswer called before the answer is checked
   * @throws LeafError `LEAF_LAYOUT_MISMATCH`, `LEAF_REGISTRY_MISMATCH`, or what the store throws
   */
  async open(onAnswer?: AnswerListener): Promise<OpenRegistry> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const stored = await this.store.readRegistry();
      await onAnswer?.(stored);
      const { document, origin } = stored;
      if (document === undefined) await this.refuseRivals();
      else this.assertSame(document);
      if (document?.origin === origin) {
        this.see(document);
        return { stored, document };
      }
      await this.store.writeRegistry(stored, this.begin(document, origin));
    }
    throw this.contested();
  }

  /**
   * Milliseconds until newcomers may acquire; 0 when they may. The caller opens the registry again before it acquires:
   * the floor may have been written just now.
   *
   * @param compareClock throws when our clock differs from those of others: a floor in the future would keep all
   *   newcomers out
   */
  async settle({ stored, document }: OpenRegistry, compareClock: () => Promise<unknown>): Promise<number> {
    const { seen, clock } = this;
    const { graceMs, maxClockOffsetMs } = this.options;
    if (document.floor !== undefined || seen === undefined) return 0;
    const watched = clock.monotonic() - seen.at;
    if (Math.abs(clock.now() - seen.wall - watched) > maxClockOffsetMs) {
      // The clock was stepped: the floor would be its step too high or too low.
      this.seen = { generation: seen.generation, at: clock.monotonic(), wall: clock.now() };
      return graceMs;
    }
    if (watched < graceMs) return graceMs - watched;
    await compareClock();
    await this.store.writeRegistry(stored, { ...document, floor: Math.ceil(seen.wall + watched) });
    return 0;
  }

  /** Records that `workerId` was given by the store's numbering. */
  async raiseHighest(workerId: number, onAnswer: AnswerListener): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { stored, document } = await this.open(onAnswer);
      if (document.highest >= workerId) return;
      if (await this.store.writeRegistry(stored, { ...document, highest: workerId })) return;
    }
    throw this.contested();
  }

  private contested(): LeafError {
    return new LeafError(
      'LEAF_REGISTRY_UNREACHABLE',
      `Other servers changed the document of the worker registry at ${this.store.description} ${ATTEMPTS} times in a row. This server tries again by itself.`,
      { retryAfterMs: 1000 },
    );
  }

  private begin(document: RegistryDocument | undefined, origin: string): RegistryDocument {
    const { strategy, layout, graceMs, newId } = this.options;
    const now = this.clock.now();
    const kept = document ?? { id: newId(), madeAt: now, strategy, layout, highest: -1, generation: 0 };
    return { ...kept, generation: kept.generation + 1, origin, began: now, floor: graceMs === 0 ? 0 : undefined };
  }

  private see({ id, generation, origin, began }: RegistryDocument): void {
    const name = JSON.stringify([id, generation, origin, began]);
    if (this.seen?.generation !== name) {
      this.seen = { generation: name, at: this.clock.monotonic(), wall: this.clock.now() };
    }
  }

  private async refuseRivals(): Promise<void> {
    const rivals = await this.store.rivals(this.clock.now());
    if (rivals === undefined) return;
    throw new LeafError(
      'LEAF_REGISTRY_MISMATCH',
      `Another worker registry than ${this.options.strategy} is in use at ${this.store.description}: ${rivals}. Both would give out the same worker IDs. Set LEAF_SNOWFLAKE_REGISTRY (embedded: snowflake.registry) as on those servers, or move all servers: docs/operations.md#changing-the-registry.`,
    );
  }

  private assertSame({ strategy, layout }: RegistryDocument): void {
    if (strategy !== this.options.strategy) {
      throw new LeafError(
        'LEAF_REGISTRY_MISMATCH',
        `The servers at ${this.store.description} use the worker registry ${strategy}, this one uses ${this.options.strategy}. Both would give out the same worker IDs. Set LEAF_SNOWFLAKE_REGISTRY=${strategy} (embedded: snowflake.registry), or move all servers: docs/operations.md#changing-the-registry.`,
      );
    }
    if (layout === this.options.layout) return;
    throw new LeafError(
      'LEAF_LAYOUT_MISMATCH',
      `The servers of ${this.store.description} make IDs of the layout ${layout}, this one of ${this.options.layout}. Their IDs could be equal. Set LEAF_SNOWFLAKE_BITS and LEAF_SNOWFLAKE_EPOCH (embedded: snowflake.layout) as on the other servers, or change the layout of all of them: docs/operations.md#changing-the-layout.`,
    );
  }
}
