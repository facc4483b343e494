import { parseObject } from '../json';

/** What a registry records about itself. */
export interface RegistryDocument {
  /** Random. A different ID means that the registry was emptied or replaced. */
  readonly id: string;
  /** Unix milliseconds. */
  readonly madeAt: number;
  /** Name of the strategy that all servers of this registry use. */
  readonly strategy: string;
  /** Bits and epoch of the IDs that all servers of this registry make. */
  readonly layout: string;
  /** Highest worker ID that the store's own numbering has given out; -1 before the first. */
  readonly highest: number;
  /** Counts, from 1, how often the store may have lost its newest writes. */
  readonly generation: number;
  /** Which copy of the data this generation began with; see `StoredRegistry`. */
  readonly origin: string;
  /** Unix milliseconds at which this generation began. */
  readonly began: number;
  /** Unix milliseconds above which newcomers issue; undefined while holders may still register again. */
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
