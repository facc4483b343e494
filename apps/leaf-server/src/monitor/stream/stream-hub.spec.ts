import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { FakeClock } from '@leaf-ids/core/testing';
import { until } from '../../../../../test/support/until';
import { watch, type Watched } from '../../../../../test/support/watch';
import { EventStream } from './stream-hub';

const CHUNK = 'x'.repeat(1_000_000);
/** More than the buffers of two sockets of one machine take. */
const MANY = 100;

describe('EventStream', () => {
  let server: Server;
  let reader: Socket;
  let response: ServerResponse;
  let clock: FakeClock;
  let stream: EventStream;

  beforeEach(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    reader = connect((server.address() as AddressInfo).port, '127.0.0.1');
    reader.on('error', () => undefined);
    reader.pause();
    reader.write('GET / HTTP/1.1\r\nHost: leaf\r\n\r\n');
    [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
    clock = new FakeClock();
    stream = new EventStream(response, clock);
  });

  afterEach(async () => {
    reader.destroy();
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  });

  /** Sends until the reader, which takes nothing, holds it up. */
  async function fill(): Promise<Watched<boolean>> {
    for (let sent = 0; sent < MANY; sent++) {
      const sending = watch(stream.send(CHUNK));
      // The kernel takes its share in its own time.
      for (const ms of [50, 500]) if (!sending.settled) await new Promise((resolve) => setTimeout(resolve, ms));
      if (!sending.settled) return sending;
    }
    throw new Error('the reader never held it up');
  }

  async function answerTo(sending: Watched<boolean>): Promise<boolean | undefined> {
    await until('an end of the wait', () => sending.settled);
    return sending.value;
  }

  it('waits for a reader that is slow, and piles up no more than what it was given last', async () => {
    const sending = await fill();
    expect(response.writableLength).toBeLessThan(2 * CHUNK.length);
    reader.resume();
    expect(await answerTo(sending)).toBe(true);
    expect(await stream.send('more')).toBe(true);
  });

  it('lets a reader go that takes nothing', async () => {
    const sending = await fill();
    await clock.advance(14_999);
    expect(response.destroyed).toBe(false);
    await clock.advance(1);
    expect(await answerTo(sending)).toBe(false);
    expect(response.destroyed).toBe(true);
    expect(await stream.send('more')).toBe(false);
  });

  it('says so when the reader has gone', async () => {
    const gone = new Promise<void>((resolve) => stream.onGone(resolve));
    const sending = await fill();
    reader.destroy();
    expect(await answerTo(sending)).toBe(false);
    await gone;
    expect(await stream.send('more')).toBe(false);
  });

  it('ends at once, with whatever the reader has not taken', async () => {
    const sending = await fill();
    stream.end();
    expect(await answerTo(sending)).toBe(false);
    expect(response.destroyed).toBe(true);
  });

  it('ends in order when the reader has everything', async () => {
    let text = '';
    reader.setEncoding('utf8').on('data', (part: string) => (text += part));
    reader.resume();
    expect(await stream.send('data: 1\n\n')).toBe(true);
    await until('it is there', () => text.includes('data: 1'));
    stream.end();
    await until('the end of the answer', () => text.endsWith('0\r\n\r\n'));
  });
});
