import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { type Clock, SystemClock } from '@leaf-ids/core';
import { FakeClock } from '@leaf-ids/core/testing';
import { until } from '../../../../test/support/until';
import { IdleTimer } from '../connections/idle-timer';
import { RequestCounts } from '../http/request-counts';
import { command, CommandTable, ConnectionState, type Reply } from './command-table';
import { bulk } from './replies';
import { RespConnection } from './resp-connection';
import { TurnBudget } from './turn-budget';

const LONG = 'x'.repeat(100_000);

describe('RespConnection', () => {
  let clock: Clock;
  let counts: RequestCounts;
  const drain = { active: false };
  /** Ends each command that waits, in their order. */
  let answers: ((reply: Reply) => void)[] = [];
  let server: Server;
  let client: Socket;
  let received = '';
  let socket: Socket;
  let connection: RespConnection;
  let budget: TurnBudget;
  let admits: jest.SpiedFunction<TurnBudget['admits']>;
  let waits: jest.SpiedFunction<TurnBudget['wait']>;

  async function open(by: Clock): Promise<void> {
    [answers, received, drain.active, clock] = [[], '', false, by];
    counts = new RequestCounts(clock);
    const commands = {
      WAIT: command(0, 0, () => new Promise<Reply>((resolve) => answers.push(resolve))),
      PARTS: command(0, 0, () => ['*2\r\n', bulk('one'), bulk('two')].values() as Iterator<string, undefined>),
      SLOW: command(0, 0, () => {
        clock.pause(5);
        return bulk('slow');
      }),
      SLOWPARTS: command(0, 0, () => slowParts()),
      SLOWLONG: command(0, 0, () => {
        clock.pause(5);
        return bulk('x'.repeat(16_384));
      }),
      QUIT: command(0, 0, (_words, state) => {
        state.ending = true;
        return bulk('bye');
      }),
      LONG: command(0, 0, () => bulk(LONG)),
      ECHO: command(1, 1, ([, text = '']) => bulk(text)),
    };
    function* slowParts(): Generator<string, undefined> {
      for (const part of ['*2\r\n', bulk('one'), bulk('two')]) {
        clock.pause(5);
        yield part;
      }
      return undefined;
    }
    const table = new CommandTable(commands, counts);
    budget = new TurnBudget(clock);
    admits = jest.spyOn(budget, 'admits');
    waits = jest.spyOn(budget, 'wait');
    const timer = new IdleTimer(clock);
    const parts = { table, counts, clock, timer, budget, drain, lines: undefined, stallMs: 1000 };
    server = createServer({ allowHalfOpen: true }, (accepted) => {
      socket = accepted;
      connection = new RespConnection(socket, new ConnectionState(1, '127.0.0.1', false), parts);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.setEncoding('latin1').on('data', (text: string) => (received += text));
    await once(server, 'connection');
  }

  afterEach(async () => {
    client.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  /** The replies, with a short name for the long one. */
  const replies = (): string[] =>
    received
      .split('\r\n')
      .slice(0, -1)
      .filter((line) => !line.startsWith('$'))
      .map((line) => (line === LONG ? 'long' : line));

  describe('by the time of the system', () => {
    beforeEach(() => open(new SystemClock()));

    it('runs nothing behind a command that waits when the client begins to read long replies', async () => {
      client.pause();
      client.write('WAIT\nWAIT\nECHO two\n');
      await until('the first command', () => answers.length === 1);
      // More than the system takes.
      answers[0]?.(bulk(LONG.repeat(300)));
      await until('the second command', () => answers.length === 2);
      client.resume();
      await until('the first reply', () => received.length > 300 * LONG.length);
      await clock.sleep(50);
      expect(replies().slice(1)).toStrictEqual([]);
      answers[1]?.(bulk('one'));
      await until('all replies', () => replies().length === 3);
      expect(replies().slice(1)).toEqual(['one', 'two']);
      expect(connection.busy).toBe(false);
    });

    it('runs no further command while the client does not read', async () => {
      client.pause();
      client.write('LONG\n'.repeat(1000));
      client.write('WAIT\n');
      await until('replies that the client does not read', () => connection.idleLimitMs < Infinity);
      await clock.sleep(100);
      expect(answers).toHaveLength(0);
      client.resume();
      await until('the last command', () => answers.length === 1);
      answers[0]?.(bulk('waited'));
      await until('all replies', () => received.endsWith('$6\r\nwaited\r\n'));
      expect(replies()).toHaveLength(1001);
    });

    it('answers what came before the client closed its side, also when that is reported during a pause', async () => {
      const closed = once(client, 'close');
      client.end('WAIT\nECHO two\n');
      await until('the command', () => answers.length === 1);
      socket.emit('end');
      answers[0]?.(bulk('one'));
      await closed;
      expect(replies()).toEqual(['one', 'two']);
    });

    it('checks its time also between empty lines and arrays', async () => {
      client.write('\n'.repeat(16_000));
      client.write('*0\r\n'.repeat(16_000));
      client.write('ECHO last\n');
      await until('the reply', () => replies().length === 1);
      expect(admits.mock.calls.length).toBeGreaterThan(32_000 / 32);
    });

    it('drops slowly what a client sends after the end', async () => {
      const begin = performance.now();
      client.write(`*x\r\n${'x'.repeat(2 ** 25)}`);
      await until('the end', () => received.startsWith('-ERR Protocol error'));
      await clock.sleep(200);
      // A chunk has at most 64 KiB. Two come before the first pause.
      const chunks = 2 + (performance.now() - begin) / 10;
      expect(socket.bytesRead).toBeLessThan(chunks * 65_536);
    });

    it('ends after the replies to what it has read while the server drains', async () => {
      const closed = once(client, 'close');
      client.write('ECHO one\nWAIT\n');
      await until('the command', () => answers.length === 1);
      drain.active = true;
      answers[0]?.(bulk('two'));
      await closed;
      expect(replies()).toEqual(['one', 'two']);
    });
  });

  describe('by a time that stands still', () => {
    let fake: FakeClock;
    beforeEach(async () => {
      fake = new FakeClock();
      await fake.advance(60_000);
      await open(fake);
    });
    const counted = (): unknown[] =>
      counts.all('resp').map(({ route, requests, latency }) => [route, requests, latency.snapshot().count]);

    it('writes the parts of a reply in their order, before the next one', async () => {
      client.write('PARTS\nPARTS\nECHO three\n');
      await until('the last reply', () => received.endsWith('three\r\n'));
      const parts = `*2\r\n${bulk('one')}${bulk('two')}`;
      expect(received).toBe(`${parts}${parts}${bulk('three')}`);
    });

    it('counts each command, and the time since it was begun', async () => {
      client.write('ECHO a\nECHO b\nPARTS\nECHO c\nWAIT\nSLOW\n');
      await until('the command', () => answers.length === 1);
      await fake.advance(1000);
      answers[0]?.(bulk('waited'));
      await until('the last reply', () => received.endsWith('slow\r\n'));
      expect(counted()).toEqual([
        ['ECHO', 3, 3],
        ['PARTS', 1, 1],
        ['WAIT', 1, 1],
        ['SLOW', 1, 1],
      ]);
      const sums = counts.all('resp').map(({ latency }) => latency.snapshot().sum);
      expect(sums).toEqual([0, 0, 1000, 5]);
    });

    it.each([
      ['32 commands', 'SLOW\n'.repeat(65), 2],
      ['each part of a reply', 'SLOWPARTS\n', 3],
      ['each long reply', 'SLOWLONG\n'.repeat(3), 3],
    ])('lets others work after %s that took its turn', async (_what, text, times) => {
      client.write(`${text}ECHO last\n`);
      await until('the last reply', () => received.endsWith('last\r\n'));
      expect(waits.mock.calls.map(([, isInterrupted]) => isInterrupted)).toEqual(Array(times).fill(true));
    });

    it('begins in the next turn when others have used up this one', async () => {
      budget.admits(fake.monotonic());
      fake.pause(5);
      socket.emit('data', Buffer.from('ECHO one\n'));
      expect([waits.mock.calls.map(([, isInterrupted]) => isInterrupted), counted()]).toEqual([[false], []]);
      await until('the reply', () => replies().length === 1);
      expect(replies()).toEqual(['one']);
    });

    it('is stalled within a command, and not while a command waits', async () => {
      expect([connection.idleLimitMs, connection.busy]).toEqual([Infinity, false]);
      client.write('ECHO one\n*1\r\n');
      await until('the reply', () => replies().length === 1);
      expect([connection.idleLimitMs, connection.busy]).toEqual([1000, false]);
      client.write('$4\r\nWAIT\r\n*1\r\n');
      await until('the command', () => answers.length === 1);
      expect([connection.idleLimitMs, connection.busy]).toEqual([Infinity, true]);
      connection.onIdle();
      await once(client, 'close');
    });

    it('ends when its socket has been idle beyond the limit of connections', async () => {
      socket.emit('timeout');
      await once(client, 'close');
      expect(fake.sleeping).toBe(0);
    });

    it('ends with its last reply, and answers nothing behind it', async () => {
      client.write('ECHO one\nQUIT\nECHO two\n');
      await once(client, 'close');
      expect([replies(), connection.busy]).toEqual([['one', 'bye'], false]);
      await until('the end at the server', () => socket.closed);
      expect(fake.sleeping).toBe(0);
    });

    it('leaves a client two seconds to read its last replies', async () => {
      client.allowHalfOpen = true;
      client.write('QUIT\n');
      await once(client, 'end');
      expect(replies()).toEqual(['bye']);
      client.write('ECHO two\n');
      await fake.advance(1999);
      expect(socket.destroyed).toBe(false);
      await fake.advance(1);
      expect(socket.destroyed).toBe(true);
      expect(counted()).toEqual([['QUIT', 1, 1]]);
    });

    it('answers all that it has read while the server drains, also what waits', async () => {
      drain.active = true;
      client.write('ECHO one\nWAIT\nECHO three\n');
      await until('the command', () => answers.length === 1);
      answers[0]?.(bulk('two'));
      await once(client, 'close');
      expect(replies()).toEqual(['one', 'two', 'three']);
    });

    it('ends while the server drains, but not before it has answered a command', async () => {
      drain.active = true;
      client.write('\n');
      await until('the line', () => socket.bytesRead === 1);
      expect(socket.writableEnded).toBe(false);
      client.write('ECHO one\n');
      await once(client, 'close');
      expect(replies()).toEqual(['one']);
    });
  });
});
