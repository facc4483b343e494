import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { SystemClock } from '@leaf-ids/core';
import { until } from '../../../../test/support/until';
import { RequestCounts } from '../http/request-counts';
import { command, type Reply } from './command';
import { CommandTable } from './command-table';
import { bulk } from './replies';
import { RespConnection } from './resp-connection';
import { Session } from './session';
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

  beforeEach(async () => {
    [answers, received, drain.active] = [[], '', false];
    const counts = new RequestCounts(clock);
    const commands = {
      WAIT: command(0, 0, () => new Promise<Reply>((resolve) => answers.push(resolve))),
      LONG: command(0, 0, () => bulk(LONG)),
      ECHO: command(1, 1, ([, text = '']) => bulk(text)),
    };
    const table = new CommandTable(commands, counts);
    const parts = { table, counts, clock, budget: new TurnBudget(clock), drain, lines: undefined };
    server = createServer({ allowHalfOpen: true }, (accepted) => {
      socket = accepted;
      connection = new RespConnection(socket, new Session(1, '127.0.0.1', false), parts);
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
    [...received.matchAll(/^(\w+)\r$/gm)].map(([, text = '']) => (text === LONG ? 'long' : text));

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
    await until('a stop', () => connection.busy);
    await clock.sleep(100);
    expect(answers).toHaveLength(0);
    expect(connection.stalled).toBe(true);
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
