import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { SystemClock } from '@leaf-ids/core';
import { until } from '../../../../test/support/until';
import { IdleTimer } from '../connections/idle-timer';
import { RequestCounts } from '../http/request-counts';
import { command, CommandTable, ConnectionState, type Reply } from './command-table';
import { bulk } from './replies';
import { RespConnection } from './resp-connection';
import { TurnBudget } from './turn-budget';

const LONG = 'x'.repeat(100_000);

describe('RespConnection', () => {
  const clock = new SystemClock();
  const drain = { active: false };
  /** Ends each command that waits, in their order. */
  let answers: ((reply: Reply) => void)[] = [];
  let server: Server;
  let client: Socket;
  let received = '';
  let socket: Socket;
  let connection: RespConnection;
  let admits: jest.SpiedFunction<TurnBudget['admits']>;

  beforeEach(async () => {
    [answers, received, drain.active] = [[], '', false];
    const counts = new RequestCounts(clock);
    const commands = {
      WAIT: command(0, 0, () => new Promise<Reply>((resolve) => answers.push(resolve))),
      LONG: command(0, 0, () => bulk(LONG)),
      ECHO: command(1, 1, ([, text = '']) => bulk(text)),
    };
    const table = new CommandTable(commands, counts);
    const budget = new TurnBudget(clock);
    admits = jest.spyOn(budget, 'admits');
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
  });

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
    expect(replies().slice(1)).toEqual([]);
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
