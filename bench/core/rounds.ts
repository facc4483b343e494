import { turn, type Contender } from './contender';

export interface RoundOptions {
  readonly rounds: number;
  readonly roundMs: number;
  readonly onRound: (round: number) => void;
}

/** IDs per second of each contender in each round. Every round runs all contenders under the same conditions. */
export async function measureRounds(
  contenders: readonly Contender[],
  { rounds, roundMs, onRound }: RoundOptions,
): Promise<Map<Contender, number[]>> {
  const rates = new Map<Contender, number[]>(contenders.map((contender) => [contender, []]));
  for (const contender of contenders) await rateOf(contender, roundMs);
  for (let round = 0; round < rounds; round++) {
    onRound(round);
    // Rotates the order, so that no contender always collects the garbage of the same predecessor.
    const first = round % contenders.length;
    for (const contender of [...contenders.slice(first), ...contenders.slice(0, first)]) {
      rates.get(contender)?.push(await rateOf(contender, roundMs));
    }
  }
  return rates;
}

async function rateOf(contender: Contender, ms: number): Promise<number> {
  const { chunk } = contender;
  const ids = new Array<unknown>(chunk).fill(undefined);
  await contender.fill(ids, 0, chunk);
  let made = 0;
  const start = performance.now();
  let elapsed = 0;
  while (elapsed < ms) {
    const reached = contender.fill(ids, 0, chunk);
    made += typeof reached === 'number' ? reached : await reached;
    await turn();
    elapsed = performance.now() - start;
  }
  return (made / elapsed) * 1000;
}
