import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import { SystemClock } from '@leaf-ids/core';
import { until } from '../../../../../test/support/until';
import { ChunkQueue, writePieces } from './stream-body';

const PIECE = 'x'.repeat(20_000);
/** Far more than the kernel buffers for a connection. */
const PIECES = 5000;

describe('writePieces', () => {
  let made: number;
  let response: ServerResponse;
  let client: Socket;
  let close: () => Promise<unknown>;

  function* pieces(): Generator<string, void, undefined> {
    while (made < PIECES) {
      made++;
      yield PIECE;
    }
  }

  beforeEach(async () => {
    made = 0;
    const server = createServer((_request, answer) => {
      response = answer;
      answer.writeHead(200, { 'content-length': PIECE.length * PIECES });
      writePieces(pieces(), answer, 'latin1', new ChunkQueue(new SystemClock()));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.on('error', () => undefined);
    close = async () => {
      client.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    };
    await once(client, 'connect');
    client.pause();
    client.write('GET / HTTP/1.1\r\nhost: leaf\r\n\r\n');
    await until('an answer', () => made > 0);
  });

  afterEach(() => close());

  /** Waits until the buffers are full and no more data is written. */
  async function standstill(): Promise<number> {
    let before = -1;
    return until('a standstill', async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      const still = made === before && response.writableLength > 0;
      before = made;
      return still && made;
    });
  }

  it('holds one chunk for a slow reader and continues when it reads on', async () => {
    const first = await standstill();
    expect(first).toBeLessThan(PIECES);
    expect(response.writableLength).toBeLessThan(response.writableHighWaterMark + PIECE.length);
    let received = 0;
    client.on('data', (part: Buffer) => (received += part.length));
    client.resume();
    await until('the whole answer', () => received > PIECE.length * PIECES);
    expect(made).toBe(PIECES);
  });

  it('creates no chunk for a disconnected client', async () => {
    await standstill();
    const closed = once(response, 'close');
    client.destroy();
    await closed;
    const before = made;
    writePieces(pieces(), response, 'latin1', new ChunkQueue(new SystemClock()));
    await new Promise((resolve) => setImmediate(resolve));
    expect(made).toBe(before);
    expect(made).toBeLessThan(PIECES);
    expect(response.writableFinished).toBe(false);
  });

  it('closes the connection when a chunk throws, and logs the reason', async () => {
    const said = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    client.resume();
    const closed = once(client, 'close');
    const broken = (function* (): Generator<string, void, undefined> {
      yield PIECE;
      throw new Error('no such date');
    })();
    writePieces(broken, response, 'latin1', new ChunkQueue(new SystemClock()));
    await closed;
    expect(response.writableFinished).toBe(false);
    expect(said).toHaveBeenCalledWith(expect.stringContaining('no such date'));
    said.mockRestore();
  });
});
