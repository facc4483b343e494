import { join } from 'node:path';
import { decimals, percent } from '../report/table';
import type { Cores } from './cores';
import type { Sandbox } from './sandbox';

const LIMIT_MS = 30_000;

/** What the machine takes away from a process that never waits. */
export interface Gaps {
  /** Of the time, in gaps of half a millisecond and more. */
  readonly share: number;
  readonly longestMs: number;
}

/** On the core of the servers and on that of the generator, both busy at the same time. */
export async function measureGaps(sandbox: Sandbox, cores: Cores): Promise<Gaps[]> {
  const probe = [process.execPath, join(__dirname, 'gap-probe.js')];
  const outputs = await Promise.all(
    [cores.server(probe), cores.generator(probe)].map((command) => sandbox.run(command, LIMIT_MS)),
  );
  return outputs.map((output) => JSON.parse(output) as Gaps);
}

export function describeGaps(gaps: readonly Gaps[]): string {
  const of = gaps.map(({ share, longestMs }) => `${percent(share)} in gaps of up to ${decimals(longestMs, 1)} ms`);
  return `A process that only turns misses ${of.join(', and on the other core ')}: that is the machine's, and in every latency.`;
}
