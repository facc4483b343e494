import { addReading, type Line, type MetricReading } from '@leaf-ids/id/internal';
import { Registry } from 'prom-client';
import type { TimeSlice } from '../monitor/sampling/time-slice';

/** Lines that are written without a pause: well below a millisecond. */
const LINES = 100;

/** A metric whose lines may be made while they are written. */
export type LazyReading = Omit<MetricReading, 'values'> & {
  readonly values: Iterable<Line>;
};

/** All at once, or each when it is needed. */
export type Readings<Reading> = Iterable<Reading> | AsyncIterable<Reading>;

/** The text of these readings as prom-client writes it, in slices: with many tags it takes longer than a request may wait. */
export async function exposition(readings: Readings<LazyReading>, slice: TimeSlice): Promise<string> {
  const registry = new Registry();
  const texts: string[] = [];
  for await (const reading of readings) {
    let lines: readonly Line[] = [];
    addReading(registry, reading.name, reading, () => lines);
    const write = (): Promise<string> => registry.getSingleMetricAsString(reading.name);
    const head = await write();
    let text = head;
    for (lines of chunksOf(reading.values)) {
      text += (await write()).slice(head.length);
      await slice.yieldIfOver();
    }
    texts.push(text);
  }
  return `${texts.join('\n\n')}\n`;
}

/** Splits items into chunks that fit into one time slice. */
export function* chunksOf<Item>(items: Iterable<Item>): Generator<Item[]> {
  let chunk: Item[] = [];
  for (const item of items) {
    if (chunk.push(item) < LINES) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
