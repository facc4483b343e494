import { isCount, isTime, parseObject } from '../../util/json';

/** How many worker IDs of a registry are used. */
export interface WorkerUsage {
  /** Worker IDs that a new server cannot acquire now. */
  readonly used: number;
  /** Total number of worker IDs. */
  readonly most: number;
  /** The first worker ID that was counted; 0 if omitted. */
  readonly first?: number;
}

/** The latest maintenance of a registry. It decides only which server does the next one. */
export interface MaintenanceTurn {
  /** Its start by the clock of its server, in Unix milliseconds. */
  readonly at: number;
  /** Undefined before the first count. */
  readonly usage: WorkerUsage | undefined;
}

/** What a registry records about itself. */
export interface RegistryDocument {
  /** Random. A changed ID means that the registry was emptied or replaced. */
  readonly id: string;
  /** Unix milliseconds. */
  readonly madeAt: number;
  /** Name of the strategy that all servers of this registry use. */
  readonly strategy: string;
  /** Bit layout and epoch of the IDs of all servers of this registry. */
  readonly layout: string;
  /** Highest worker ID that the store has assigned by its own numbering; -1 before the first. */
  readonly highest: number;
  /** Starts at 1 and increases each time the store may have lost its latest writes. */
  readonly generation: number;
  /** Identifies the copy of the data that this generation started with; see `StoredRegistry`. */
  readonly origin: string;
  /** Start of this generation, in Unix milliseconds. */
  readonly began: number;
  /**
   * Unix milliseconds: newcomers issue only above it. Undefined during the grace period, while holders may still
   * register again.
   */
  readonly floor: number | undefined;
  /**
   * Longest lease TTL of all servers that have read this document, in milliseconds, under its stored name. Undefined
   * after a write by a version of Leaf that does not know it.
   */
  readonly horizonMs?: number | undefined;
  /**
   * Whether a server may have issued IDs above its recorded ceiling, from its worker file. Undefined after a write by a
   * version of Leaf that does not know it.
   */
  readonly continues?: boolean | undefined;
  /** Changes while a server still registers worker IDs again: newcomers then restart the grace period. */
  readonly registering?: number | undefined;
  /** Undefined before the first maintenance, and after a write by a version of Leaf that does not know it. */
  readonly maintained?: MaintenanceTurn | undefined;
}

/** Parses the document of a registry; undefined for any other text. */
export function parseRegistryDocument(text: string): RegistryDocument | undefined {
  const found: Partial<Record<keyof RegistryDocument, unknown>> = parseObject(text);
  const {
    id,
    madeAt,
    strategy,
    layout,
    highest,
    generation,
    origin,
    began,
    floor,
    horizonMs,
    continues,
    registering,
    maintained,
  } = found;
  const texts = [id, strategy, layout, origin];
  const numbers = [madeAt, highest, generation, began, floor ?? 0];
  if (!texts.every((value) => typeof value === 'string') || !numbers.every(Number.isSafeInteger)) return undefined;
  const document = { id, madeAt, strategy, layout, highest, generation, origin, began, floor } as RegistryDocument;
  return {
    ...document,
    horizonMs: isCount(horizonMs) ? horizonMs : undefined,
    continues: typeof continues === 'boolean' ? continues : undefined,
    registering: isCount(registering) ? registering : undefined,
    maintained: parseTurn(maintained),
  };
}

function parseTurn(value: unknown): MaintenanceTurn | undefined {
  const { at, usage } = (value ?? {}) as Partial<Record<keyof MaintenanceTurn, unknown>>;
  if (!isTime(at)) return undefined;
  const { used, most, first } = (usage ?? {}) as Partial<Record<keyof WorkerUsage, unknown>>;
  if (!isCount(used) || !isCount(most)) return { at, usage: undefined };
  return { at, usage: { used, most, ...(isCount(first) && { first }) } };
}
