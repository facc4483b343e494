import { createServer } from 'node:net';

/**
 * Below the ephemeral port range: otherwise a client that connects to the port of a killed server could get that port
 * as its local port, and the server could not listen on it again.
 */
const FIRST_PORT = 15_000;
const LAST_PORT = 32_000;
/** Each Jest worker has its own range, so that no other worker takes a port between the check and its use. */
const PARTS = 16;
const PART_SIZE = Math.floor((LAST_PORT - FIRST_PORT) / PARTS);

/** Ports that were returned, and perhaps nobody listens on yet. */
const given = new Set<number>();

/** Different ports that are currently free. */
export function freePorts(count: number): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, () => freePort()));
}

/** Returns a port that is currently free, another one at each call. */
export async function freePort(): Promise<number> {
  const part = Number(process.env.JEST_WORKER_ID ?? 0) % PARTS;
  for (;;) {
    const port = FIRST_PORT + part * PART_SIZE + Math.floor(Math.random() * PART_SIZE);
    if (given.size > PART_SIZE / 2) given.clear();
    if (given.has(port)) continue;
    given.add(port);
    const free = await new Promise<boolean>((resolve) => {
      const server = createServer();
      server.on('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (free) return port;
  }
}
