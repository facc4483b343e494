import { Agent } from 'node:http';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { LeafClient } from '@leaf-ids/client';
import { idsOf, LeafError } from '@leaf-ids/core';
import { ask } from '../chaos/load/http-ask';
import { type Call, type Operation, operationOf } from './checker';

export const TAG = 'order';
const LIMIT_MS = 5000;
/** Pause after a refusal, in milliseconds. */
const PAUSE_MS = 5;

/** Number of concurrent calls of one caller. */
const HTTP_WIDTH = 8;
const CLIENT_WIDTH = 100;

/** What a call got: whatever it is, the checker judges it. */
export type Answer = readonly bigint[];

/** A call that a server refused with a code, or that no server answered. */
export class Refusal extends Error {}

/** The operations of all callers. */
export class Record {
  readonly operations: Operation[] = [];
  /** Calls that got no ID. */
  readonly unknown: Call[] = [];
  /** Number of refused calls by code. */
  readonly refusals = new Map<string, number>();
  /** Answers that are neither IDs nor a refusal with a code. */
  readonly faults: string[] = [];
  private readonly began = process.hrtime.bigint();
  private goal = Infinity;

  get running(): boolean {
    return this.operations.length < this.goal;
  }

  /** Ends the callers after this number of operations. */
  endAt(operations: number): void {
    this.goal = operations;
  }

  /** Makes one call and records it. */
  async note(caller: string, act: () => Promise<Answer>): Promise<void> {
    const startedAt = this.now();
    try {
      const ids = await act();
      const endedAt = this.now();
      if (ids.length === 0) throw new Error('an answer without an ID');
      this.operations.push(operationOf({ caller, startedAt, endedAt }, ids.map(Number)));
    } catch (error) {
      if (error instanceof Refusal || error instanceof LeafError) this.refused(error);
      else this.faults.push(`${caller}: ${String(error)}`);
      this.unknown.push({ caller, startedAt, endedAt: this.now() });
      await sleep(PAUSE_MS);
    }
  }

  private refused(error: Refusal | LeafError): void {
    const code = error instanceof LeafError ? error.code : error.message;
    this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1);
  }

  private now(): number {
    return Number(process.hrtime.bigint() - this.began);
  }
}

/** Twelve callers: four take single IDs and four take ranges over HTTP, from the servers in turn; four use clients. */
export async function runCallers(record: Record, ports: readonly number[]): Promise<void> {
  const clients = Array.from({ length: 4 }, () => newClient(ports));
  const agent = new Agent({ keepAlive: true });
  const callers = clients.flatMap((client, n) => [
    run(record, `http ${n}`, HTTP_WIDTH, (turn) => overHttp(agent, portAt(ports, turn), `get/${TAG}`)),
    run(record, `range ${n}`, HTTP_WIDTH, (turn) =>
      overHttp(agent, portAt(ports, turn), `range/${TAG}?size=${1 + ((turn * 7) % 20)}`),
    ),
    run(record, `client ${n}`, CLIENT_WIDTH, (turn) => byClient(client, turn)),
  ]);
  await Promise.all(callers);
  await Promise.all(clients.map((client) => client.close()));
  agent.destroy();
}

function newClient(ports: readonly number[]): LeafClient {
  return new LeafClient({ servers: ports.map((port) => `http://127.0.0.1:${port}`), timeoutMs: LIMIT_MS });
}

async function run(
  record: Record,
  caller: string,
  width: number,
  act: (turn: number) => Promise<Answer>,
): Promise<void> {
  let turn = 0;
  const loop = async (): Promise<void> => {
    while (record.running) {
      await record.note(caller, () => act(turn++));
      // If the client wrongly buffered IDs of a strict tag, the loop would otherwise block the process.
      await nextTurn();
    }
  };
  await Promise.all(Array.from({ length: width }, loop));
}

function portAt(ports: readonly number[], turn: number): number {
  return ports[turn % ports.length] ?? 0;
}

/**
 * Takes IDs from one server.
 *
 * @param path `get/order`, or `range/order?size=20`
 */
export async function overHttp(agent: Agent, port: number, path: string): Promise<Answer> {
  const reply = await ask({ port, path: `/api/segment/${path}`, limitMs: LIMIT_MS, agent });
  // A killed server answers nothing.
  if ('fault' in reply) throw new Refusal(reply.fault);
  if (reply.status !== 200) throw refusalOf(reply.status, reply.body);
  if (path.startsWith('get')) return [BigInt(reply.body)];
  const { ranges } = JSON.parse(reply.body) as { ranges: { from: string; to: string }[] };
  return idsOf(ranges.map(({ from, to }) => ({ from: BigInt(from), to: BigInt(to) })));
}

function refusalOf(status: number, body: string): Error {
  const { code } = JSON.parse(body) as { code?: unknown };
  return typeof code === 'string' && code.startsWith('LEAF_') ? new Refusal(code) : new Error(`${status} ${body}`);
}

async function byClient(client: LeafClient, turn: number): Promise<Answer> {
  if (turn % 10 > 0) return [await client.nextId(TAG)];
  return client.nextIds(TAG, 1 + (turn % 7));
}
