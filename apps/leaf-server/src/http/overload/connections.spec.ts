import { EventEmitter } from 'node:events';
import type { Server, Socket } from 'node:net';
import { FakeClock } from '@leaf-ids/core/testing';
import { Connections } from './connections';
import { OverloadCounts } from './refusals';

class FakeSocket extends EventEmitter {
  readonly bytesWritten = 0;
  readonly writableLength = 0;
  bytesRead = 0;
  destroyed = false;

  constructor(readonly remoteAddress = '127.0.0.1') {
    super();
  }

  setTimeout(): void {
    // Nothing waits here.
  }

  destroy(): void {
    this.destroyed = true;
  }
}

it('a connection beyond the limit is forgotten once it is closed', () => {
  const server = new EventEmitter();
  const connections = new Connections(1, new FakeClock(), new OverloadCounts(), () => true);
  connections.watch(server as Server);
  const [first, second] = [new FakeSocket(), new FakeSocket()];
  for (const socket of [first, second]) server.emit('connection', socket);
  expect(connections.isSurplus(second as unknown as Socket)).toBe(true);
  second.emit('close');
  expect([connections.crowded, connections.isSurplus(second as unknown as Socket)]).toEqual([false, false]);
});

it('closed connections of a client give it no disadvantage', () => {
  const server = new EventEmitter();
  const clock = new FakeClock();
  const connections = new Connections(2, clock, new OverloadCounts(), () => false);
  connections.watch(server as Server);
  const connect = (remoteAddress: string): FakeSocket => {
    const socket = new FakeSocket(remoteAddress);
    server.emit('connection', socket);
    return socket;
  };
  for (let time = 0; time < 5; time++) connect('10.0.0.1').emit('close');
  const [own, other] = [connect('10.0.0.2'), connect('10.0.0.2')];
  clock.pause(1000);
  // It has none open now, so that it takes the place of one of two.
  const newcomer = connect('10.0.0.1');
  expect([own, other].filter(({ destroyed }) => destroyed)).toHaveLength(1);
  expect(connections.isSurplus(newcomer as unknown as Socket)).toBe(false);
});

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
  expect(arrivals.filter(({ destroyed }) => destroyed)).toStrictEqual([]);
  clock.pause(250);
  server.emit('connection', new FakeSocket());
  expect(arrivals.map(({ destroyed }) => destroyed)).toEqual(arrivals.map((_, index) => index === 0));
});
