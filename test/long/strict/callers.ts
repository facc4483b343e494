import { Agent } from 'node:http';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { LeafClient } from '@leaf-ids/client/plain';
import { idsOf } from '@leaf-ids/core';
import { codeOf } from '@leaf-ids/core/internal';
import { ask } from '../chaos/load/http-ask';
import type { Operation } from './checker';

const TAG = 'order';
const LIMIT_MS = 5000;
/** Pause after a refusal, in milliseconds. */
const PAUSE_MS = 5;

/** Number of concurrent calls of one caller. */
const HTTP_WIDTH = 8;
const CLIENT_WIDTH = 100;

interface Span {
  readonly from: bigint;
  readonly to: bigint;
}

/** The operations of all callers. */
export class Record {
  readonly operations: Operation[] = [];
  /** Number of refused calls by code. */
  readonly refusals = new Map<string, number>();
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
  async note(caller: string, act: () => Promise<Span>): Promise<void> {
    const startedAt = this.now();
    try {
      const { from, to } = await act();
      this.operations.push({ caller, startedAt, endedAt: this.now(), from: Number(from), to: Number(to) });
    } catch (error) {
      const code = codeOf(error) ?? String(error);
      this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1);
      await sleep(PAUSE_MS);
    }
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

async function run(record: Record, caller: string, width: number, act: (turn: number) => Promise<Span>): Promise<void> {
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

async function overHttp(agent: Agent, port: number, path: string): Promise<Span> {
  const reply = await ask({ port, path: `/api/segment/${path}`, limitMs: LIMIT_MS, agent });
  if ('fault' in reply) throw new Error(reply.fault);
  if (reply.status !== 200) throw new Error(String((JSON.parse(reply.body) as { code: unknown }).code));
  if (path.startsWith('get')) return spanOf([BigInt(reply.body)]);
  const { ranges } = JSON.parse(reply.body) as { ranges: { from: string; to: string }[] };
  return spanOf(idsOf(ranges.map(({ from, to }) => ({ from: BigInt(from), to: BigInt(to) }))));
}

async function byClient(client: LeafClient, turn: number): Promise<Span> {
  if (turn % 10 > 0) return spanOf([await client.nextId(TAG)]);
  return spanOf(await client.nextIds(TAG, 1 + (turn % 7)));
}

/** @throws Error unless they follow on each other */
function spanOf(ids: readonly bigint[]): Span {
  const [from = 0n] = ids;
  const to = ids.at(-1) ?? 0n;
  if (to - from + 1n !== BigInt(ids.length)) throw new Error('the IDs of one call do not follow on each other');
  return { from, to };
}
