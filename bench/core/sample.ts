import { turn, type Contender } from './contender';

export interface Sample {
  readonly size: number;
  readonly duplicates: number;
  /** IDs per second while the sample was taken: who is fast here had the occasion to repeat itself. */
  readonly rate: number;
}

/** Takes `size` IDs as fast as they come, by the same loop that is timed, and counts those that were there before. */
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
  if (distinct.has(undefined)) throw new Error(`${contender.name} left an ID out.`);
  return { size, duplicates: size - distinct.size, rate };
}

export function verdict({ duplicates, size }: Sample): string {
  const total = size.toLocaleString('en-US');
  return duplicates === 0 ? 'unique' : `${duplicates.toLocaleString('en-US')} duplicates of ${total}`;
}
