import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultLayout } from '@leaf-ids/core/internal';
import { ask, type Reply } from '../long/chaos/load/http-ask';
import { codeOf } from '../long/chaos/load/server-caller';
import type { Given as GaplessNumber } from '../long/numbers/checker';
import { operationOf } from '../long/strict/checker';
import { count, type Ledger } from './ledger';
import { faultOf, GAPLESS, type Given, type Question, QUESTIONS, STRICT, type Version } from './tags';

const PAUSE_MS = 10;
/** Longer than a server waits for its database, and than a busy machine stands still. */
const LIMIT_MS = 15_000;
/** Each so many turns, a document gets a number. */
const DOCUMENT_TURNS = 7;

/** What a caller sees of the servers. */
export interface Servers {
  readonly ports: readonly number[];
  /** Undefined while the server is stopped or starts. */
  readonly versions: readonly (Version | undefined)[];
  /** Tags that exist. */
  readonly created: ReadonlySet<string>;
  /** Tags with settings that the older version does not know. */
  readonly unknown: ReadonlySet<string>;
}

interface Attempt {
  readonly server: number;
  /** During the whole request. */
  readonly version: Version | undefined;
  readonly reply: Reply;
}

/** Asks for IDs of all kinds, one request after the other. A server that refuses is followed by the next one. */
export class HttpCaller {
  readonly numbers: GaplessNumber[] = [];
  private readonly agent = new Agent({ keepAlive: true });
  private readonly index: number;
  /** The highest ID so far of each tag on each server, and of each worker. */
  private readonly highest = new Map<string, bigint>();

  constructor(
    private readonly name: string,
    private readonly servers: Servers,
    private readonly ledger: Ledger,
  ) {
    this.index = ledger.history.addCaller(name);
  }

  async run(isRunning: () => boolean): Promise<void> {
    for (let turn = this.index; isRunning(); turn++) {
      if (turn % DOCUMENT_TURNS === 0 && this.servers.created.has(GAPLESS)) await this.number(turn);
      else await this.ids(QUESTIONS[turn % QUESTIONS.length]!, turn);
      await sleep(PAUSE_MS);
    }
    this.agent.destroy();
  }

  private async ids(question: Question, turn: number): Promise<void> {
    const { tag, path, read } = question;
    if (tag !== undefined && !this.servers.created.has(tag)) return;
    const { ledger, index } = this;
    const startedAt = ledger.now();
    const attempt = await this.ask(tag, turn, { path });
    if (attempt === undefined) return;
    const given = read(attempt.body);
    for (const { from, to } of given.ranges) ledger.add(given.space, index, from, Number(to - from) + 1);
    const fault = faultOf(question, given);
    if (fault !== undefined) ledger.fault(fault);
    if (tag !== STRICT) {
      this.checkOrder(given, attempt.server);
      return;
    }
    const ids = given.ranges.flatMap(({ from, to }) => [Number(from), Number(to)]);
    const single = new Set(ids).size === 1 ? ids.slice(1) : ids;
    ledger.strict.push(operationOf({ caller: this.name, startedAt, endedAt: ledger.now() }, single));
  }

  /** Some documents are sent again much later. */
  private async number(turn: number): Promise<void> {
    const again = turn % 5 === 0 ? this.numbers.at(-20) : undefined;
    const key = again?.key ?? `${this.name} ${turn}`;
    const startedAt = this.ledger.now();
    const path = `/api/numbers/${GAPLESS}/${encodeURIComponent(key)}`;
    const headers = { 'content-type': 'application/json' };
    const attempt = await this.ask(GAPLESS, turn, { path, method: 'PUT', headers, body: '{}' });
    if (attempt === undefined) return;
    const { period, number } = JSON.parse(attempt.body) as { period: string; number: string };
    const isNew = attempt.status === 201 && attempt.isFirst;
    const call = { caller: this.name, startedAt, endedAt: this.ledger.now() };
    this.numbers.push({ ...call, key, period, number: Number(number), isNew });
  }

  /** The first answer of a server; undefined when all refuse, which is booked. */
  private async ask(
    tag: string | undefined,
    turn: number,
    how: { path: string; method?: string; headers?: Record<string, string>; body?: string },
  ): Promise<{ server: number; status: number; body: string; isFirst: boolean } | undefined> {
    const { ports, versions, unknown } = this.servers;
    const { ledger } = this;
    const attempts: Attempt[] = [];
    ledger.calls++;
    for (let attempt = 0; attempt < ports.length; attempt++) {
      const server = (turn + attempt) % ports.length;
      const before = versions[server];
      const reply = await ask({ port: ports[server]!, limitMs: LIMIT_MS, agent: this.agent, ...how });
      const version = before === versions[server] ? before : undefined;
      attempts.push({ server, version, reply });
      if ('fault' in reply) continue;
      const isUnknown = tag !== undefined && unknown.has(tag);
      if (reply.status < 300) {
        if (isUnknown && version === 'old') ledger.fault(`the older version answers ${how.path}: ${reply.body}`);
        return { server, status: reply.status, body: reply.body, isFirst: attempt === 0 };
      }
      const code = codeOf(reply);
      if (!code.startsWith('LEAF_'))
        ledger.fault(`${how.path}: ${reply.status} without a code: ${reply.body.slice(0, 200)}`);
      if (isUnknown && version === 'old') count(ledger.unknown, `${tag}: ${code}`);
      // It ends as it should.
      if (tag === 'limited' && code === 'LEAF_TAG_EXHAUSTED') return undefined;
    }
    this.book(tag, attempts);
    return undefined;
  }

  /** All servers refused. Nobody but a newer server can serve a tag that the older version does not know. */
  private book(tag: string | undefined, attempts: readonly Attempt[]): void {
    const { unknown } = this.servers;
    const able = tag !== undefined && unknown.has(tag) ? attempts.filter(({ version }) => version === 'new') : attempts;
    if (able.length === 0) return;
    const codes = able.map(({ reply }) => ('fault' in reply ? reply.fault : codeOf(reply)));
    count(this.ledger.refused, `${tag ?? 'snowflake'}: ${codes.join(', ')}`);
  }

  /** The IDs of a tag ascend on one server, also over restarts; those of a worker likewise. */
  private checkOrder({ space, ranges }: Given, server: number): void {
    if (space.startsWith('period')) return;
    for (const { from, to } of ranges) {
      const line =
        space === 'snowflake' ? `worker ${defaultLayout().decompose(from).workerId}` : `${space} of server ${server}`;
      const highest = this.highest.get(line) ?? -1n;
      if (from <= highest) this.ledger.history.disorder(`${this.name}: ${from} after ${highest} of ${line}`);
      this.highest.set(line, to);
    }
  }
}
