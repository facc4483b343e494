import { Agent } from 'node:http';
import type { IdRange, LeafErrorCode } from '@leaf-ids/core';
import { defaultLayout } from '@leaf-ids/core/internal';
import { call } from '../http/http';
import { IssuedIds, runsOf } from '../issued-ids';
import { problemCode } from '../http/problem';

const CALLERS = 6;
const BATCH = 1000;
const PATHS = [`/api/snowflake/batch/order?size=${BATCH}`, '/api/snowflake/get/order'] as const;
/** Pause of a caller after a refusal, in milliseconds. */
const PAUSE_MS = 20;

/** Callers that request snowflake IDs of a server without pause, each on its own connection. */
export class SnowflakeLoad {
  /** Number of refusals by code. */
  readonly refusals = new Map<LeafErrorCode, number>();
  /** IDs received. */
  count = 0;
  /** Errors of the connections that broke before the end. */
  readonly breaks: unknown[] = [];

  /** The callers that were refused at least once. */
  private readonly refused = new Set<IssuedIds>();
  private readonly issued = Array.from({ length: CALLERS }, () => new IssuedIds());
  private readonly callers: Promise<void>[];
  private ending = false;

  constructor(private readonly port: number) {
    this.callers = this.issued.map((ids, index) => this.run(ids, PATHS[index % PATHS.length]!));
  }

  /** Each caller waits for an answer before it asks again: nothing that was issued before its refusal is to come. */
  get everyCallerWasRefused(): boolean {
    return this.refused.size === CALLERS;
  }

  get ranges(): IdRange[] {
    return this.issued.flatMap(({ ranges }) => ranges);
  }

  /** The positions at which a caller received an ID that is not above its earlier ones. */
  get descents(): string[] {
    return this.issued.flatMap(({ descents }) => descents);
  }

  /** The lowest and the highest ID. */
  get bounds(): { readonly lowest: bigint; readonly highest: bigint } {
    const sorted = this.ranges.sort((a, b) => (a.from < b.from ? -1 : 1));
    const highest = sorted.reduce((most, { to }) => (to > most ? to : most), 0n);
    return { lowest: sorted[0]?.from ?? 0n, highest };
  }

  get workers(): Set<number> {
    const layout = defaultLayout();
    return new Set(this.ranges.map(({ from }) => layout.decompose(from).workerId));
  }

  /** Resolves when all callers have ended; each waits for its last answer. */
  async end(): Promise<this> {
    this.ending = true;
    await Promise.all(this.callers);
    return this;
  }

  private async run(ids: IssuedIds, path: string): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    try {
      while (!this.ending) {
        const count = await ids.book(() => this.ask(path, agent));
        this.count += count;
        if (count === 0) this.refused.add(ids);
      }
    } catch (error) {
      if ((error as { code?: unknown }).code === undefined) throw error;
      this.breaks.push(error);
    } finally {
      agent.destroy();
    }
  }

  private async ask(path: string, agent: Agent): Promise<IdRange[]> {
    const answer = await call(this.port, path, { agent });
    if (answer.status === 200) {
      const ids = answer.body.startsWith('{') ? (JSON.parse(answer.body) as { ids: string[] }).ids : [answer.body];
      return runsOf(ids.map(BigInt));
    }
    const code = problemCode(answer);
    this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    return [];
  }
}
