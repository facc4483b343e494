import { createServer } from 'node:net';

/**
 * Below the ports that systems give to outgoing connections, and to those who listen on any: a client that knocks at the
 * port of a killed server must not get that very port for its own end, or it holds the port when the server returns.
 */
const FIRST_PORT = 15_000;
const LAST_PORT = 32_000;
/** The workers of Jest have a part each: what one has found free, no other one takes before it is used. */
const PARTS = 16;
const PART_SIZE = Math.floor((LAST_PORT - FIRST_PORT) / PARTS);

/** A port that nobody uses at this moment. */
export async function freePort(): Promise<number> {
  const part = Number(process.env.JEST_WORKER_ID ?? 0) % PARTS;
  for (;;) {
    const port = FIRST_PORT + part * PART_SIZE + Math.floor(Math.random() * PART_SIZE);
    const free = await new Promise<boolean>((resolve) => {
      const server = createServer();
      server.on('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (free) return port;
  }
}
