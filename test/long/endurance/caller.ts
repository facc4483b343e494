import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IdRange } from '@leaf-ids/core';
import { ask } from '../chaos/load/http-ask';
import { readBatch, readRanges } from '../chaos/load/server-caller';

const LIMIT_MS = 5000;
const PACE_MS = 5;

/** Asks one server the same again and again, one request after the other. */
export class Caller {
  answered = 0;
  refused = 0;
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });
  private highest = 0n;
  private running = false;
  private done: Promise<void> = Promise.resolve();

  private constructor(
    private readonly port: number,
    private readonly path: string,
    private readonly read: (body: string) => readonly IdRange[],
  ) {}

  static ofSegments(port: number, tag: string, size: number): Caller {
    return new Caller(port, `/api/segment/range/${tag}?size=${size}`, readRanges);
  }

  static ofSnowflakes(port: number, size: number): Caller {
    return new Caller(port, `/api/snowflake/batch/endurance?size=${size}`, readBatch);
  }

  start(): void {
    this.running = true;
    this.done = this.run();
    // Told to whoever pauses it.
    this.done.catch(() => undefined);
  }

  /** Resolves when nothing is under way. @throws Error when IDs did not ascend */
  async pause(): Promise<void> {
    this.running = false;
    await this.done;
  }

  end(): void {
    this.running = false;
    this.agent.destroy();
  }

  private async run(): Promise<void> {
    while (this.running) {
      const reply = await ask({ port: this.port, path: this.path, limitMs: LIMIT_MS, agent: this.agent });
      if ('status' in reply && reply.status === 200) this.take(reply.body);
      else this.refused++;
      await sleep(PACE_MS);
    }
  }

  private take(body: string): void {
    this.answered++;
    for (const { from, to } of this.read(body)) {
      if (from <= this.highest || to < from) throw new Error(`${this.path}: ${from} to ${to} after ${this.highest}`);
      this.highest = to;
    }
  }
}
