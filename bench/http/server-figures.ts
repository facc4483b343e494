import { Agent } from 'node:http';
import { summarize, type Summary } from '../report/summary';
import { awaitIds, requestIds } from './request';
import type { Sandbox } from './sandbox';
import { ServerProcess } from './server-process';

/** Milliseconds per call, sequentially on one keep-alive connection; throws if a response is invalid. */
export async function measureCalls(
  server: ServerProcess,
  { path, ids }: { readonly path: string; readonly ids: number },
  count: number,
): Promise<number[]> {
  const agent = new Agent({ keepAlive: true });
  const times: number[] = [];
  try {
    if (count > 0) await awaitIds(server.port, path, ids);
    for (let i = 0; i < count; i++) {
      const start = performance.now();
      await requestIds(server.port, path, ids, agent);
      times.push(performance.now() - start);
    }
  } finally {
    agent.destroy();
  }
  return times;
}

/** Milliseconds from the start of the process, with an empty data folder, to the first ID over HTTP. */
export async function measureStartUps(
  sandbox: Sandbox,
  command: readonly string[],
  idPath: string,
  count: number,
): Promise<Summary> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const server = await ServerProcess.start(sandbox, { command, readyPath: idPath });
    await requestIds(server.port, idPath, 1);
    times.push(server.startMs);
    await server.stop();
  }
  return summarize(times);
}
