import { parseObject } from '../json';

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
}

/** Parses the document of a registry; undefined for any other text. */
export function parseRegistryDocument(text: string): RegistryDocument | undefined {
  const found: Partial<Record<keyof RegistryDocument, unknown>> = parseObject(text);
  const { id, madeAt, strategy, layout, highest, generation, origin, began, floor } = found;
  const texts = [id, strategy, layout, origin];
  const numbers = [madeAt, highest, generation, began, floor ?? 0];
  if (!texts.every((value) => typeof value === 'string') || !numbers.every(Number.isSafeInteger)) return undefined;
  return { id, madeAt, strategy, layout, highest, generation, origin, began, floor } as RegistryDocument;
}
