import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultLayout } from '@leaf-ids/core/internal';
import { runsOf } from '../../../support/issued-ids';
import type { LeafProcess } from '../world/leaf-process';
import { ask, type Reply } from './http-ask';
import type { IdRange, Recorder } from './recorder';

/** Longer than a server waits for its database. */
const LIMIT_MS = 1500;
const BATCH = 20;
/** So many IDs per millisecond that using a millisecond twice repeats an ID. */
const SNOWFLAKE_BATCH = 300;
const RANGE = 50;

interface Wanted {
  readonly path: string;
  /** The tag, in segment mode. */
  readonly tag: string | undefined;
  /** All IDs of one space must differ. */
  readonly space: string;
  readonly read: (body: string) => IdRange[];
}

/** Requests IDs of one server over HTTP, one request at a time, and checks their order. */
export class ServerCaller {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });
  private readonly done: Promise<void>;
  private ended = false;
  /** The highest ID so far of each tag and each worker. */
  private readonly highest = new Map<string, bigint>();

  constructor(
    private readonly server: LeafProcess,
    readonly recorder: Recorder,
    private readonly tags: readonly string[],
    paceMs: number,
  ) {
    this.done = this.run(paceMs);
  }

  async end(): Promise<void> {
    this.ended = true;
    await this.done;
    this.agent.destroy();
  }

  private async run(paceMs: number): Promise<void> {
    for (let round = 0; !this.ended; round++) {
      const wanted = this.recorder.mode === 'segment' ? this.wantedSegment(round) : this.wantedSnowflake(round);
      const startedAt = this.recorder.now();
      const { port } = this.server.edges.client;
      this.book(wanted, await ask({ port, path: wanted.path, limitMs: LIMIT_MS, agent: this.agent }), startedAt);
      await sleep(paceMs);
    }
  }

  private wantedSegment(round: number): Wanted {
    const tag = this.tags[round % this.tags.length]!;
    const space = `tag ${tag}`;
    // Not a multiple of the number of tags, so that each tag is requested in each way.
    switch (round % 7) {
      case 1:
        return { tag, space, path: `/api/segment/batch/${tag}?size=${BATCH}`, read: readBatch };
      case 3:
        return { tag, space, path: `/api/segment/range/${tag}?size=${RANGE}`, read: readRanges };
      default:
        return { tag, space, path: `/api/segment/get/${tag}`, read: readOne };
    }
  }

  /** Worker IDs are unique within one registry only. */
  private wantedSnowflake(round: number): Wanted {
    const common = { tag: undefined, space: `snowflake ${this.server.registry}` };
    if (round % 2 === 0) return { ...common, path: '/api/snowflake/get/chaos', read: readOne };
    return { ...common, path: `/api/snowflake/batch/chaos?size=${SNOWFLAKE_BATCH}`, read: readBatch };
  }

  private book({ tag, space, read }: Wanted, reply: Reply, startedAt: number): void {
    if ('fault' in reply || reply.status !== 200) {
      this.recorder.failed('fault' in reply ? reply.fault : codeOf(reply), startedAt, tag);
      return;
    }
    const ranges = read(reply.body);
    for (const range of ranges) this.checkOrder(space, range);
    this.recorder.answered(space, ranges, startedAt, tag);
  }

  /** The IDs of a tag ascend on one server, also over restarts; those of a worker likewise. */
  private checkOrder(space: string, { from, to }: IdRange): void {
    const isSnowflake = this.recorder.mode === 'snowflake';
    const line = isSnowflake ? `worker ${defaultLayout().decompose(from).workerId}` : space;
    const highest = this.highest.get(line) ?? 0n;
    if (from <= highest || to < from) this.recorder.disorder(`${from} after ${highest} of ${line}`);
    this.highest.set(line, to);
  }
}

function readOne(body: string): IdRange[] {
  return [{ from: BigInt(body), to: BigInt(body) }];
}

export function readBatch(body: string): IdRange[] {
  return runsOf((JSON.parse(body) as { ids: string[] }).ids.map(BigInt));
}

export function readRanges(body: string): IdRange[] {
  const { ranges } = JSON.parse(body) as { ranges: { from: string; to: string }[] };
  return ranges.map(({ from, to }) => ({ from: BigInt(from), to: BigInt(to) }));
}

/** The code of a problem, or the status of another refusal. */
export function codeOf({ status, body }: { readonly status: number; readonly body: string }): string {
  try {
    return (JSON.parse(body) as { code?: string }).code ?? String(status);
  } catch {
    return String(status);
  }
}
