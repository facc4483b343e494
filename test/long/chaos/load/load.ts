import { SeededRandom } from '../../../support/seeded-random';
import type { ChaosWorld } from '../world/world';
import { FleetClient, segmentCalls, snowflakeCalls } from './fleet-client';
import { type Books, Recorder } from './recorder';
import { ServerCaller } from './server-caller';
import { TagChanger } from './tag-changer';

/** Between two calls of one caller. */
const CLIENT_PACE_MS = 20;
const CALLER_PACE_MS = 40;
const SEGMENT_CLIENTS = 2;

/** All callers of a run. */
export class Load {
  readonly tagChanger: TagChanger;
  private readonly clients: FleetClient[] = [];
  private readonly callers: ServerCaller[] = [];

  constructor(world: ChaosWorld, books: Books, seed: number) {
    const { servers, tags } = world;
    this.tagChanger = new TagChanger(world, books, new SeededRandom(seed));
    for (let i = 0; i < SEGMENT_CLIENTS; i++) {
      const recorder = new Recorder(books, `client ${i + 1}`, 'segment', undefined);
      this.clients.push(new FleetClient(servers, recorder, segmentCalls(tags), CLIENT_PACE_MS));
    }
    const { registry } = servers[0]!;
    const fleet = servers.filter((server) => server.registry === registry);
    const recorder = new Recorder(books, `client ${SEGMENT_CLIENTS + 1}`, 'snowflake', undefined);
    this.clients.push(new FleetClient(fleet, recorder, snowflakeCalls(registry), CLIENT_PACE_MS));
    for (const server of servers) {
      for (const mode of ['segment', 'snowflake'] as const) {
        const own = new Recorder(books, `caller of ${server.name}`, mode, server);
        this.callers.push(new ServerCaller(server, own, tags, CALLER_PACE_MS));
      }
    }
  }

  /** The page of every caller. */
  get recorders(): readonly Recorder[] {
    return [...this.clients, ...this.callers].map(({ recorder }) => recorder);
  }

  /** Whether every caller has got IDs for a question that it asked after `at`. */
  servedSince(at: number): boolean {
    return this.recorders.every(({ lastAnswerAt }) => lastAnswerAt > at);
  }

  async end(): Promise<void> {
    await Promise.all([this.tagChanger, ...this.clients, ...this.callers].map((caller) => caller.end()));
  }
}
