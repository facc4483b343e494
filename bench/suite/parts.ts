/** One benchmark: `bench/<name>.bench.ts`. */
export interface Part {
  readonly name: string;
  readonly measures: string;
  /** Approximate duration on an idle machine. */
  readonly seconds: number;
  readonly quickSeconds: number;
  /** Whether it runs by default, and its targets are those of the product. */
  readonly byDefault: boolean;
  /** Whether it supports `--server <main.js>`, the build to measure. */
  readonly ofServer: boolean;
}

function part(
  name: string,
  measures: string,
  [seconds, quickSeconds]: readonly [number, number],
  { byDefault = true, ofServer = true } = {},
): Part {
  return { name, measures, seconds, quickSeconds, byDefault, ofServer };
}

/** In run order. */
export const PARTS: readonly Part[] = [
  part('core', 'ID generation inside one process', [75, 20], { ofServer: false }),
  part('http', 'the built server over HTTP', [900, 220]),
  part('resp', 'the built server over the Redis protocol', [90, 30]),
  part('client', 'the client with built servers', [110, 30]),
  part('memory', 'memory of the built server', [600, 60]),
  part('start', 'time from the start of the built server to its first ID', [90, 30]),
  part('strict', 'IDs of strict tags, compared with Redis', [240, 60], { byDefault: false }),
];
