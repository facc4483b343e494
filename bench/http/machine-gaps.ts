import { join } from 'node:path';
import { decimals, percent } from '../../test/support/table';
import type { Cores } from './cores';
import type { Sandbox } from './sandbox';

const LIMIT_MS = 30_000;

/** Time that other work takes from a busy process. */
export interface Gaps {
  /** Share of the time lost in gaps of at least 0.5 ms. */
  readonly share: number;
  readonly longestMs: number;
}

/** Measures the cores of the servers and of the generator at the same time. */
export async function measureGaps(sandbox: Sandbox, cores: Cores): Promise<Gaps[]> {
  const probe = [process.execPath, join(__dirname, 'gap-probe.js')];
  const outputs = await Promise.all(
    [cores.server(probe), cores.generator(probe)].map((command) => sandbox.run(command, LIMIT_MS)),
  );
  return outputs.map((output) => JSON.parse(output) as Gaps);
}

export function describeGaps(gaps: readonly Gaps[]): string {
  const of = gaps.map(({ share, longestMs }) => `${percent(share)} in gaps of up to ${decimals(longestMs, 1)} ms`);
  return `A busy loop loses ${of.join(', and on the other core ')} to other work on the machine; every latency includes this.`;
}
