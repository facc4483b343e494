import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { once } from 'node:events';

/**
 * Forwards connections to a local port, and delays each chunk in both directions.
 *
 * @param delayMs of one direction, in milliseconds
 * @returns the port that it listens on; the end of this process closes it
 */
export async function openSlowLink(port: number, delayMs: number): Promise<number> {
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port, host: '127.0.0.1', noDelay: true });
    forward(near, far, delayMs);
    forward(far, near, delayMs);
  });
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function forward(from: Socket, to: Socket, delayMs: number): void {
  from.on('data', (chunk) => setTimeout(() => to.write(chunk), delayMs));
  from.on('error', () => to.destroy());
  from.on('close', () => to.destroy());
}
