import { setTimeout as sleep } from 'node:timers/promises';
import { LeafError } from '@leaf/core';
import { LeafClient } from '@leaf/client/plain';
import { runsOf } from '../../support/issued-ids';
import type { LeafProcess } from '../world/leaf-process';
import type { IdRange, Recorder } from './recorder';

/** Little is fetched ahead: what the servers go through is to be felt here. */
const OPTIONS = { minSize: 50, maxSize: 10_000, durationMs: 1000 };
const MANY = 30;

type Ask = (client: LeafClient, round: number) => Promise<{ readonly space: string; readonly ranges: IdRange[] }>;

/** An application: a `LeafClient` of several servers, called at a steady pace whether or not it answers. */
export class FleetClient {
  private readonly client: LeafClient;
  private readonly done: Promise<void>;
  private readonly open = new Set<Promise<void>>();
  private ended = false;

  constructor(
    servers: readonly LeafProcess[],
    readonly recorder: Recorder,
    private readonly ask: Ask,
    paceMs: number,
  ) {
    const urls = servers.map(({ address }) => address);
    this.client = new LeafClient({ servers: urls, segment: OPTIONS, snowflake: OPTIONS });
    this.done = this.run(paceMs);
  }

  async end(): Promise<void> {
    this.ended = true;
    await this.done;
    await Promise.all(this.open);
    await this.client.close();
  }

  private async run(paceMs: number): Promise<void> {
    for (let round = 0; !this.ended; round++) {
      const call = this.call(round);
      this.open.add(call);
      void call.then(() => this.open.delete(call));
      await sleep(paceMs);
    }
  }

  private async call(round: number): Promise<void> {
    const startedAt = this.recorder.now();
    try {
      const { space, ranges } = await this.ask(this.client, round);
      this.recorder.answered(space, ranges, startedAt);
    } catch (error) {
      this.recorder.failed(error instanceof LeafError ? error.code : String(error), startedAt);
    }
  }
}

/** Single IDs, batches and ranges of every tag in turn. */
export function segmentCalls(tags: ReadonlySet<string>): Ask {
  return async (client, round) => {
    const all = [...tags];
    const tag = all[round % all.length]!;
    const space = `tag ${tag}`;
    if (round % 10 === 1) return { space, ranges: runsOf(await client.nextIds(tag, MANY)) };
    if (round % 10 === 6) return { space, ranges: await client.nextRanges(tag, MANY) };
    return { space, ranges: runsOf([await client.nextId(tag)]) };
  };
}

/** @param registry that of all servers: worker IDs of another one may be the same */
export function snowflakeCalls(registry: string): Ask {
  return async (client, round) => ({
    space: `snowflake ${registry}`,
    ranges: runsOf(await client.snowflakes(1 + (round % MANY))),
  });
}
