import { Agent } from 'node:http';
import { summarize, type Summary } from '../report/summary';
import { request, requestId } from './request';
import type { Sandbox } from './sandbox';
import { ServerProcess } from './server-process';

export const RANGE_SIZE = 1_000_000;

interface RangeAnswer {
  readonly ranges: readonly { readonly from: string; readonly to: string }[];
}

/**
 * Milliseconds that a million IDs take over one kept connection, one call after the other.
 *
 * @throws Error when an answer is no 200, or its ranges do not add up
 */
export async function measureRanges(server: ServerProcess, path: string, count: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true });
  const times: number[] = [];
  try {
    for (let i = 0; i < count; i++) {
      const start = performance.now();
      const { status, text } = await request(server.port, `${path}?size=${RANGE_SIZE}`, 10_000, agent);
      times.push(performance.now() - start);
      if (status !== 200) throw new Error(`GET ${path} answered ${status} ${text.slice(0, 300)}`);
      const { ranges } = JSON.parse(text) as RangeAnswer;
      const size = ranges.reduce((sum, { from, to }) => sum + BigInt(to) - BigInt(from) + 1n, 0n);
      if (size !== BigInt(RANGE_SIZE)) throw new Error(`GET ${path} gave ${size} IDs: ${text.slice(0, 300)}`);
    }
  } finally {
    agent.destroy();
  }
  return times;
}

/** Milliseconds from the start of the process, with an empty data folder, to its first ID over HTTP. */
export async function measureStartUps(
  sandbox: Sandbox,
  command: readonly string[],
  idPath: string,
  count: number,
): Promise<Summary> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const server = await ServerProcess.start(sandbox, { command, readyPath: idPath });
    await requestId(server.port, idPath);
    times.push(server.startMs);
    await server.stop();
  }
  return summarize(times);
}
