import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { TcpProxy } from './tcp-proxy';
import { until } from '../until';

describe('a proxy that loses its connections', () => {
  let echo: Server;
  let proxy: TcpProxy;
  /** Of the echo. */
  const ends: Socket[] = [];
  const sockets: Socket[] = [];

  beforeAll(async () => {
    echo = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.pipe(socket);
      ends.push(socket);
    });
    echo.listen(0, '127.0.0.1');
    await once(echo, 'listening');
    proxy = await TcpProxy.start((echo.address() as AddressInfo).port);
  });

  afterAll(async () => {
    for (const socket of [...sockets, ...ends]) socket.destroy();
    await proxy.stop();
    echo.close();
  });

  async function open(): Promise<{ socket: Socket; seen: string[] }> {
    const socket = connect(proxy.port, '127.0.0.1');
    const seen: string[] = [];
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => seen.push(text));
    for (const event of ['end', 'close', 'error']) socket.on(event, () => seen.push(event));
    sockets.push(socket);
    socket.write('first');
    await until('echo', () => seen.includes('first'));
    return { socket, seen };
  }

  it('tells nobody, passes nothing on them any more, and serves new ones', async () => {
    const lost = await open();
    const [far] = ends;
    const came: string[] = [];
    far!.on('data', () => came.push('data'));
    far!.on('close', () => came.push('close'));
    expect(proxy.loseConnections()).toBe(1);
    lost.socket.write('lost');
    far!.write('from the other end');
    // What goes through afterwards, goes through after those.
    const fresh = await open();
    // No healing, no cut and no end of the one side reaches the other.
    proxy.heal();
    expect(proxy.cut()).toBe(1);
    await until('end of the new connection', () => fresh.socket.closed);
    far!.destroy();
    await open();
    expect(lost.seen).toEqual(['first']);
    expect(came).toEqual(['close']);
    expect(lost.socket.destroyed).toBe(false);
  });
});
