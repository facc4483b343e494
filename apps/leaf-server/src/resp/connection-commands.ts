import type { Clock } from '@leaf-ids/core';
import { serverVersion } from '../config/version';
import type { ClientAccess } from '../clients/client-access';
import { command, type Commands, type ConnectionState, type Words } from './command-table';
import { array, bulk, error, integer, map, nothing, OK, type ProtocolVersion, simple } from './replies';

/** The Redis server whose protocol this is: client libraries select features by it. */
const REDIS_VERSION = '7.0.0';
const ANY_NUMBER = Infinity;

interface ConnectionParts {
  readonly clients: Pick<ClientAccess, 'enabled' | 'authenticate'>;
  readonly clock: Clock;
}

/** Commands about the connection itself, as client libraries send them, and those without IDs. */
export function connectionCommands({ clients, clock }: ConnectionParts): Commands {
  const authenticate = (state: ConnectionState, token: string): void => {
    if (!clients.enabled) return;
    state.access = clients.authenticate(Buffer.from(token, 'latin1').toString(), state.address, 'AUTH');
  };
  return {
    AUTH: command(1, 2, (words, state) => {
      authenticate(state, words.at(-1) ?? '');
      return OK;
    }),
    HELLO: command(0, ANY_NUMBER, (words, state) => hello(words, state, (token) => authenticate(state, token))),
    PING: command(0, 1, ([, text]) => (text === undefined ? simple('PONG') : bulk(text))),
    ECHO: command(1, 1, ([, text = '']) => bulk(text)),
    TIME: command(0, 0, () => {
      const now = clock.now();
      return array([bulk(String(Math.floor(now / 1000))), bulk(String((now % 1000) * 1000))]);
    }),
    SELECT: command(1, 1, ([, index]) => (index === '0' ? OK : error('ERR', 'DB index is out of range'))),
    CLIENT: command(1, ANY_NUMBER, client),
    // Empty, which libraries take for a server that describes no commands.
    COMMAND: command(0, ANY_NUMBER, ([, part = '']) => (part.toUpperCase() === 'COUNT' ? integer(0) : array([]))),
    INFO: command(0, ANY_NUMBER, () => bulk(INFO)),
    RESET: command(0, 0, (_words, state) => {
      state.reset();
      return simple('RESET');
    }),
    QUIT: command(0, 0, (_words, state) => {
      state.ending = true;
      return OK;
    }),
    GET: command(1, 1, () =>
      error('ERR', 'GET is not supported: INCR takes the next ID of a tag, and no command reads the last one'),
    ),
  };
}

const INFO = [
  '# Server',
  `redis_version:${REDIS_VERSION}`,
  'redis_mode:standalone',
  `leaf_version:${serverVersion()}`,
  '# Persistence',
  'loading:0',
  '# Replication',
  'role:master',
  '',
].join('\r\n');

/** `HELLO [version [AUTH user token] [SETNAME name]]` */
function hello(words: Words, state: ConnectionState, authenticate: (token: string) => void): string {
  const [, wanted = String(state.version), ...options] = words;
  if (wanted !== '2' && wanted !== '3') return error('NOPROTO', 'unsupported protocol version');
  let { name } = state;
  for (let at = 0; at < options.length;) {
    const option = options[at]?.toUpperCase();
    const [first, second] = options.slice(at + 1);
    if (option === 'AUTH' && second !== undefined) {
      authenticate(second);
      at += 3;
    } else if (option === 'SETNAME' && first !== undefined) {
      name = first;
      at += 2;
    } else {
      return error('ERR', 'syntax error in HELLO');
    }
  }
  const version: ProtocolVersion = wanted === '3' ? 3 : 2;
  state.version = version;
  state.name = name;
  return map(version, [
    ['server', bulk('leaf')],
    ['version', bulk(REDIS_VERSION)],
    ['proto', integer(version)],
    ['id', integer(state.id)],
    ['mode', bulk('standalone')],
    ['role', bulk('master')],
    ['modules', array([])],
  ]);
}

function client([, part = '', value]: Words, state: ConnectionState): string {
  switch (part.toUpperCase()) {
    case 'ID':
      return integer(state.id);
    case 'GETNAME':
      return state.name === '' ? nothing(state.version) : bulk(state.name);
    case 'SETNAME':
      state.name = value ?? '';
      return OK;
    case 'SETINFO':
    case 'NO-EVICT':
    case 'NO-TOUCH':
      return OK;
    default:
      return error('ERR', 'unknown subcommand of CLIENT');
  }
}
