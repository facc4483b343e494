import { isUtf8 } from 'node:buffer';
import { type IdRange, idsOf, LeafError, MAX_BATCH_SIZE, MAX_RANGE_SIZE } from '@leaf-ids/core';
import type { EmbeddedIdService, Leaf } from '@leaf-ids/id';
import { type OverloadCounts, overloaded, type RefusalReason } from '../http/overload/refusals';
import { parseId } from '../ids/id-text';
import { numbersOf } from '../ids/numbers-of';
import { parseSize } from '../ids/parameters';
import { ANYBODY } from '../ids/takes-ids';
import type { ClientAccess, IdQuota } from '../clients/client-access';
import { command, type Commands, type ConnectionState, type Reply } from './command-table';
import { array, bulk, integer, map } from './replies';

/** The name of snowflake IDs in quotas: the command has no key. */
const SNOWFLAKE_KEY = 'snowflake';
/** IDs in a part of a long reply: about 6 KB, after each of which other connections may have their turn. */
const PART = 250;
/** IDs at once for a connection beyond the limit. */
const SURPLUS_SIZE = 1000;

interface IdParts {
  readonly ids: EmbeddedIdService;
  readonly leaf: Pick<Leaf, 'numbers'>;
  readonly clients: ClientAccess;
  readonly overload: OverloadCounts;
  /** Commands that wait for their IDs at once, with the requests of HTTP. */
  readonly maxInFlight: number;
}

/** The IDs that a command takes. */
interface Take<Ids> {
  /** Undefined if it would wait. */
  readonly now: () => Ids | undefined;
  readonly later: () => Promise<Ids>;
  readonly reply: (ids: Ids) => Reply;
}

/** Commands that issue or decode IDs. */
export function idCommands({ ids, leaf, clients, overload, maxInFlight }: IdParts): Commands {
  const charge = (state: ConnectionState, tag: string, count: number): IdQuota => {
    if (state.surplus && count > SURPLUS_SIZE) throw refused(overload, 'connections');
    return clients.charge(state.access, tag, count);
  };

  /** Waits only if no ID is in memory. */
  const take = <Ids>(
    state: ConnectionState,
    tag: string,
    count: number,
    { now, later, reply }: Take<Ids>,
  ): Reply | Promise<Reply> => {
    const quota = charge(state, tag, count);
    const taken = now();
    if (taken !== undefined) return reply(taken);
    if (state.surplus || !overload.hasRoom(maxInFlight)) {
      quota.giveBack(count);
      throw refused(overload, state.surplus ? 'connections' : 'in_flight');
    }
    return overload.during(later()).then(reply, (refusal: unknown) => {
      quota.giveBack(count);
      throw refusal;
    });
  };

  const takeOne = (tag: string, state: ConnectionState, reply: (id: bigint) => string): Reply | Promise<Reply> =>
    take(state, tag, 1, { now: () => ids.tryNext(tag), later: () => ids.nextId(tag), reply });

  return {
    INCR: command(1, 1, ([, tag = ''], state) => takeOne(tag, state, integer)),
    INCRBY: command(2, 2, ([, tag = '', given], state) => {
      const size = parseSize(given, MAX_RANGE_SIZE);
      return take(state, tag, size, {
        now: () => ids.tryRun(tag, size),
        later: () => ids.nextRun(tag, size),
        reply: ({ to }) => integer(to),
      });
    }),
    'LEAF.NEXT': command(1, 2, ([, tag = '', given], state) => {
      if (given === undefined) return takeOne(tag, state, bulkOf);
      const size = parseSize(given, MAX_BATCH_SIZE);
      return take(state, tag, size, {
        now: () => ids.tryRanges(tag, size),
        later: () => ids.nextRanges(tag, size),
        reply: (ranges) => idList(size, ranges),
      });
    }),
    'LEAF.RANGE': command(2, 2, ([, tag = '', given], state) => {
      const size = parseSize(given, MAX_RANGE_SIZE);
      return take(state, tag, size, {
        now: () => ids.tryRanges(tag, size),
        later: () => ids.nextRanges(tag, size),
        reply: (ranges) => array(ranges.map(({ from, to }) => array([bulkOf(from), bulkOf(to)]))),
      });
    }),
    'LEAF.NUMBER': command(2, 2, ([, tag = '', word = ''], state) =>
      take(state, tag, 1, {
        // The database decides whether the document has a number.
        now: () => undefined,
        later: async () => {
          const numbers = numbersOf(leaf);
          const [answer] = await numbers.issue(tag, [utf8(word)], state.access?.client.name ?? ANYBODY);
          if (answer === undefined) throw new Error('The answer is missing.');
          return numbers.textOf(tag, answer.number);
        },
        reply: (text) => bulk(latin1(text)),
      }),
    ),
    'LEAF.SNOWFLAKE': command(0, 1, ([, given], state) => {
      if (given === undefined) {
        return take(state, SNOWFLAKE_KEY, 1, {
          now: () => ids.trySnowflakeString(),
          later: async () => (await ids.snowflakeStrings(1))[0] as string,
          reply: bulk,
        });
      }
      const size = parseSize(given, MAX_BATCH_SIZE);
      return take(state, SNOWFLAKE_KEY, size, {
        now: () => {
          const range = ids.trySnowflakeRange(size);
          return range && [range];
        },
        later: () => ids.snowflakeRanges(size),
        reply: (ranges) => idList(size, ranges),
      });
    }),
    'LEAF.DECODE': command(1, 1, ([, text], state) => {
      const id = parseId(text);
      const { timestamp, sequence, ...place } = ids.decode(id);
      return map(state.version, [
        ['id', bulkOf(id)],
        ['timestamp', integer(timestamp)],
        ['time', bulk(new Date(timestamp).toISOString())],
        ...Object.entries(place).map(([name, value]) => [name, integer(value)] as const),
        ['sequence', integer(sequence)],
      ]);
    }),
  };
}

function refused(overload: OverloadCounts, reason: RefusalReason): LeafError {
  overload.add(reason);
  return overloaded();
}

/**
 * The text of a word. Invalid UTF-8 is refused: two keys in another encoding could become the same text.
 *
 * @throws LeafError `LEAF_REQUEST_INVALID`
 */
function utf8(word: string): string {
  const bytes = Buffer.from(word, 'latin1');
  if (isUtf8(bytes)) return bytes.toString();
  throw new LeafError('LEAF_REQUEST_INVALID', 'The key must be encoded in UTF-8.');
}

/** One character for each byte of UTF-8. */
function latin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function bulkOf(id: bigint): string {
  return bulk(String(id));
}

/** An array of IDs; a long one in parts. */
function idList(size: number, ranges: readonly IdRange[]): Reply {
  if (size > PART) return parts(size, ranges);
  return array(idsOf(ranges).map(bulkOf));
}

function* parts(size: number, ranges: readonly IdRange[]): Generator<string, undefined> {
  let part = `*${size}\r\n`;
  let count = 0;
  for (const { from, to } of ranges) {
    for (let id = from; id <= to; id++) {
      part += bulkOf(id);
      if (++count % PART > 0) continue;
      yield part;
      part = '';
    }
  }
  yield part;
  return undefined;
}
