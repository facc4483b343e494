import { once } from 'node:events';
import { join } from 'node:path';
import type { Sandbox } from '../http/sandbox';
import type { Subject } from './server-memory';
import { settledMiB } from './server-memory';

/** Resident memory with a number of idle keep-alive connections, each of which has received one response. */
export interface ConnectionReport {
  readonly connections: number;
  readonly resident: number;
}

/** @param counts numbers of connections at which memory is measured, ascending */
export async function measureConnections(
  subject: Subject,
  sandbox: Sandbox,
  counts: readonly number[],
): Promise<ConnectionReport[]> {
  const most = Math.max(...counts);
  const server = await subject.start({ LEAF_DATA_DIR: subject.folder(), LEAF_MAX_CONNECTIONS: String(most + 100) });
  const client = sandbox.spawn([process.execPath, join(__dirname, 'connection-holder.js'), String(server.port)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const reports: ConnectionReport[] = [];
  for (const connections of counts) {
    client.send(connections);
    const [answered] = (await once(client, 'message')) as [number];
    if (answered !== connections)
      throw new Error(`Only ${answered} of ${connections} connections received a response.`);
    reports.push({ connections, resident: await settledMiB(server) });
  }
  client.kill();
  await server.kill();
  return reports;
}
