import { setTimeout as sleep } from 'node:timers/promises';
import { LeafError } from '@leaf-ids/core';
import { LeafClient } from '@leaf-ids/client';
import { runsOf } from '../../../support/issued-ids';
import type { LeafProcess } from '../world/leaf-process';
import type { IdRange, Recorder } from './recorder';

/** Little is fetched ahead: what the servers go through is to be felt here. */
const OPTIONS = { minSize: 50, maxSize: 10_000, durationMs: 1000 };
const MANY = 30;

interface Question {
  /** In segment mode. */
  readonly tag: string | undefined;
  /** Whose IDs must all differ. */
  readonly space: string;
  readonly ranges: () => Promise<IdRange[]>;
}

type Ask = (client: LeafClient, round: number) => Question;

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
    const { tag, space, ranges } = this.ask(this.client, round);
    try {
      this.recorder.answered(space, await ranges(), startedAt, tag);
    } catch (error) {
      this.recorder.failed(error instanceof LeafError ? error.code : String(error), startedAt, tag);
    }
  }
}

/** Single IDs, batches and ranges of every tag in turn. */
export function segmentCalls(tags: readonly string[]): Ask {
  return (client, round) => {
    const tag = tags[round % tags.length]!;
    const ranges = async (): Promise<IdRange[]> => {
      // No multiples of the number of tags: each of them is asked for in each way.
      if (round % 9 === 1) return runsOf(await client.nextIds(tag, MANY));
      if (round % 11 === 6) return client.nextRanges(tag, MANY);
      return runsOf([await client.nextId(tag)]);
    };
    return { tag, space: `tag ${tag}`, ranges };
  };
}

/** @param registry that of all servers: worker IDs of another one may be the same */
export function snowflakeCalls(registry: string): Ask {
  return (client, round) => ({
    tag: undefined,
    space: `snowflake ${registry}`,
    ranges: async () => runsOf(await client.snowflakes(1 + (round % MANY))),
  });
}
