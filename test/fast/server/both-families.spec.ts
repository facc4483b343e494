import { request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { startTestServer } from '../../support/servers/server';

function statusAt(host: string, port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const call = request({ host, port, path: '/health/live', agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    call.on('error', reject).end();
  });
}

it('a server without LEAF_HOST is reached by IPv4, and by IPv6 where the host has it', async () => {
  const server = await startTestServer({ LEAF_HOST: '' });
  try {
    expect(server.server.url).toBe(`http://127.0.0.1:${server.port}`);
    expect(server.server.place).toMatch(/^http:\/\/127\.0\.0\.1:\d+ \(all (IPv4 )?addresses of this host\)$/);
    const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ family }) => family === 'IPv6'));
    for (const host of ['127.0.0.1', ...(hasIpv6 ? ['::1'] : [])]) expect(await statusAt(host, server.port)).toBe(200);
  } finally {
    await server.stop();
  }
});
