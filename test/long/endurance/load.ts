import { createInterface } from 'node:readline';
import { Caller } from './caller';
import { STEP, TAG, type EnduranceWorld } from './world';

const SNOWFLAKES = 100;
const CLIENT_PACE_MS = 20;
/** Kinds of IDs that the application asks for with each line. */
const CALLS_A_LINE = 2;

export interface LoadCounts {
  /** Requests to servers, each of a whole segment. */
  readonly switches: number;
  readonly snowflakeBatches: number;
  readonly clientCalls: number;
  readonly refused: number;
}

/** Whoever asks for IDs: two callers of each server, and the application. */
export class Load {
  private readonly segments: readonly Caller[];
  private readonly snowflakes: readonly Caller[];
  private clientPace: NodeJS.Timeout | undefined;
  private asked = 0;
  private told = 0;
  private answered = 0;

  constructor(private readonly world: EnduranceWorld) {
    const ports = world.servers.map(({ edges }) => edges.client.port);
    this.segments = ports.map((port) => Caller.ofSegments(port, TAG, STEP));
    this.snowflakes = ports.map((port) => Caller.ofSnowflakes(port, SNOWFLAKES));
    createInterface({ input: world.client!.output }).on('line', (line) => {
      this.told++;
      this.answered += Number(line);
    });
  }

  start(): void {
    for (const caller of this.callers) caller.start();
    this.clientPace = setInterval(() => {
      this.asked++;
      this.world.client!.input.write('\n');
    }, CLIENT_PACE_MS);
  }

  /** Resolves when nothing is under way. @throws Error when IDs did not ascend */
  async pause(): Promise<void> {
    clearInterval(this.clientPace);
    await Promise.all(this.callers.map((caller) => caller.pause()));
  }

  /** Whether the application has got or been refused all that it asked for; it goes on for as long as its calls may. */
  get clientIsIdle(): boolean {
    return this.told === this.asked;
  }

  end(): void {
    clearInterval(this.clientPace);
    for (const caller of this.callers) caller.end();
  }

  get counts(): LoadCounts {
    return {
      switches: sum(this.segments, ({ answered }) => answered),
      snowflakeBatches: sum(this.snowflakes, ({ answered }) => answered),
      clientCalls: this.answered,
      refused: sum(this.callers, ({ refused }) => refused) + this.told * CALLS_A_LINE - this.answered,
    };
  }

  private get callers(): readonly Caller[] {
    return [...this.segments, ...this.snowflakes];
  }
}

function sum(callers: readonly Caller[], read: (caller: Caller) => number): number {
  return callers.reduce((total, caller) => total + read(caller), 0);
}
