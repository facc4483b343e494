/** One benchmark: `bench/<name>.bench.ts`, or `bench/studies/<name>.bench.ts` for those that do not run by default. */
export interface Part {
  readonly name: string;
  readonly measures: string;
  /** What it takes about, on a machine that does nothing else. */
  readonly seconds: number;
  readonly quickSeconds: number;
  /** Whether its targets are those of the product; the others are for who works on what they measure. */
  readonly byDefault: boolean;
  /** Whether it takes `--server <main.js>`, the build to measure. */
  readonly ofServer: boolean;
  /** Whether another checkout can stand in its place, wholly. */
  readonly comparable: boolean;
}

function part(
  name: string,
  measures: string,
  [seconds, quickSeconds]: readonly [number, number],
  { byDefault = true, ofServer = true, comparable = true } = {},
): Part {
  return { name, measures, seconds, quickSeconds, byDefault, ofServer, comparable };
}

/** In the order in which they run. */
export const PARTS: readonly Part[] = [
  part('core', 'making IDs inside one process', [75, 20], { ofServer: false }),
  part('http', 'the built server over HTTP', [600, 120]),
  part('client', 'the client on built servers', [110, 30]),
  part('store', 'allocations on real databases', [180, 30], { ofServer: false }),
  part('memory', 'memory of the built server', [600, 60]),
  part('ticks', 'how long many tags hold up the built server', [130, 30]),
  part('segment', 'segments of a slow database, many tags', [120, 60], { byDefault: false }),
  part('overload', 'the built server under ten times what it can do', [130, 70], { byDefault: false }),
  part('strict', 'IDs of strict tags, beside Redis', [240, 60], { byDefault: false }),
  part('orm', 'keys of a bulk insert', [120, 40], { byDefault: false, ofServer: false }),
  part('metrics', 'what counting and timing requests cost', [360, 70], { byDefault: false, comparable: false }),
];
