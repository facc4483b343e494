import { turn, type Contender } from './contender';

export interface Sample {
  readonly size: number;
  readonly duplicates: number;
  /** IDs per second of the sample. Duplicates are more likely at high rates. */
  readonly rate: number;
}

/** Generates `size` IDs with the loop that is measured, and counts duplicates. */
export async function sampleOf(contender: Contender, size: number): Promise<Sample> {
  const ids = new Array<unknown>(size).fill(undefined);
  const start = performance.now();
  for (let made = 0; made < size;) {
    const reached = contender.fill(ids, made, Math.min(made + contender.chunk, size));
    made = typeof reached === 'number' ? reached : await reached;
    await turn();
  }
  const rate = (size / (performance.now() - start)) * 1000;
  const { key } = contender;
  const distinct = new Set(key === undefined ? ids : ids.map(key));
  if (distinct.has(undefined)) throw new Error(`${contender.name} did not write all IDs.`);
  return { size, duplicates: size - distinct.size, rate };
}

export function verdict({ duplicates, size }: Sample): string {
  const total = size.toLocaleString('en-US');
  return duplicates === 0 ? 'unique' : `${duplicates.toLocaleString('en-US')} duplicates of ${total}`;
}
