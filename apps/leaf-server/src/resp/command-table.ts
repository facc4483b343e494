import { Logger } from '@nestjs/common';
import { LeafError } from '@leaf-ids/core';
import type { RequestCount, RequestCounts } from '../http/request-counts';
import type { Accepted } from '../clients/client-access';
import { error, type ProtocolVersion, refusal } from './replies';

const MAX_SHOWN = 40;
const UNKNOWN = 'unknown';
/** The first words of HTTP, which a page in a browser can send to this port: the connection ends. */
const HTTP_WORDS: ReadonlySet<string> = new Set(['POST', 'HOST:']);

interface Known {
  readonly name: string;
  readonly command: Command;
  /** Counter of successful answers; undefined before the first one. */
  answered: RequestCount | undefined;
}

/** A command that was run. */
export interface Outcome {
  readonly count: RequestCount;
  readonly reply: Reply;
}

/** Finds and runs commands, and turns errors into replies. */
export class CommandTable {
  private readonly logger = new Logger('RESP');
  /** Commands by name as sent, in upper and in lower case. */
  private readonly known = new Map<string, Known>();

  constructor(
    commands: Commands,
    private readonly counts: RequestCounts,
  ) {
    for (const [name, command] of Object.entries(commands)) {
      const known: Known = { name, command, answered: undefined };
      this.known.set(name, known).set(name.toLowerCase(), known);
    }
  }

  /** A promise if the command waits. Never throws, and the promise never rejects. */
  run(words: Words, state: ConnectionState): Outcome | Promise<Outcome> {
    const [given = ''] = words;
    const known = this.known.get(given) ?? this.known.get(given.toUpperCase());
    if (known === undefined) return this.unknown(given, state);
    const { name, command } = known;
    const args = words.length - 1;
    if (args < command.minimum || args > command.maximum) {
      return this.invalid(name, `wrong number of arguments for '${name.toLowerCase()}' command`);
    }
    try {
      const reply = command.run(words, state);
      if (!(reply instanceof Promise)) return { count: this.countOf(known, reply), reply };
      return reply.then(
        (later) => ({ count: this.countOf(known, later), reply: later }),
        (thrown: unknown) => this.failed(name, thrown),
      );
    } catch (thrown) {
      return this.failed(name, thrown);
    }
  }

  /** Bytes that are not a command. */
  fault(message: string): Outcome {
    return this.invalid('invalid', `Protocol error: ${message}`);
  }

  private unknown(given: string, state: ConnectionState): Outcome {
    if (HTTP_WORDS.has(given.toUpperCase())) state.ending = true;
    const shown = given.slice(0, MAX_SHOWN).replaceAll(/[^\x21-\x7e]/g, '?');
    return this.invalid(UNKNOWN, `unknown command '${shown}'`);
  }

  private countOf(known: Known, reply: Reply): RequestCount {
    if (typeof reply === 'string' && reply.startsWith('-')) return this.counts.of(known.name, 400, 'resp');
    return (known.answered ??= this.counts.of(known.name, 200, 'resp'));
  }

  private invalid(name: string, text: string): Outcome {
    return { count: this.counts.of(name, 400, 'resp'), reply: error('ERR', text) };
  }

  private failed(name: string, thrown: unknown): Outcome {
    if (thrown instanceof LeafError) {
      return { count: this.counts.of(name, thrown.status, 'resp'), reply: refusal(thrown) };
    }
    this.logger.error({ message: `${name} failed` }, thrown instanceof Error ? thrown.stack : String(thrown));
    const hidden = new LeafError('LEAF_INTERNAL', 'Internal server error. See the log of the server.');
    return { count: this.counts.of(name, hidden.status, 'resp'), reply: refusal(hidden) };
  }
}

/** A reply, or its parts in their order, each written on demand. */
export type Reply = string | Iterator<string, undefined>;

/** The name of the command and its arguments. */
export type Words = readonly string[];

interface Command {
  /** Number of arguments. */
  readonly minimum: number;
  readonly maximum: number;

  /**
   * @param words as many as declared
   * @throws LeafError
   */
  run(words: Words, state: ConnectionState): Reply | Promise<Reply>;
}

/** Commands by name, in upper case. */
export type Commands = Readonly<Record<string, Command>>;

export function command(minimum: number, maximum: number, run: Command['run']): Command {
  return { minimum, maximum, run };
}

/** State of one connection: protocol version, name and access. */
export class ConnectionState {
  version: ProtocolVersion = 2;
  /** Set by the client. */
  name = '';
  /** Access of the token of the connection; undefined without a token. */
  access: Accepted | undefined;
  /** Whether the connection ends after the answers to the commands so far. */
  ending = false;

  constructor(
    readonly id: number,
    /** Address of the client. */
    readonly address: string,
    /** Whether there are too many connections: this one takes IDs from memory only, not many at once. */
    readonly surplus: boolean,
  ) {}

  reset(): void {
    this.version = 2;
    this.name = '';
    this.access = undefined;
  }
}
