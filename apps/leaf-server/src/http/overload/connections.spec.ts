import { EventEmitter } from 'node:events';
import type { Server, Socket } from 'node:net';
import { FakeClock } from '@leaf-ids/core/testing';
import { Connections } from './connections';
import { OverloadCounts } from './refusals';

class FakeSocket extends EventEmitter {
  readonly remoteAddress = '127.0.0.1';
  readonly bytesWritten = 0;
  readonly writableLength = 0;
  bytesRead = 0;
  destroyed = false;

  setTimeout(): void {
    // Nothing waits here.
  }

  destroy(): void {
    this.destroyed = true;
  }
}

it('connections that arrive together are spared until they have had time to send a request', () => {
  const server = new EventEmitter();
  const clock = new FakeClock();
  const busy = new FakeSocket();
  const connections = new Connections(
    1,
    clock,
    new OverloadCounts(),
    (socket) => socket === (busy as unknown as Socket),
  );
  connections.watch(server as Server);
  server.emit('connection', busy);
  const arrivals = Array.from({ length: 100 }, () => new FakeSocket());
  for (const socket of arrivals) server.emit('connection', socket);
  expect(arrivals.filter(({ destroyed }) => destroyed)).toEqual([]);
  clock.pause(250);
  server.emit('connection', new FakeSocket());
  expect(arrivals.map(({ destroyed }) => destroyed)).toEqual(arrivals.map((_, index) => index === 0));
});
