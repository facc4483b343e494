import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_TOKEN } from '../../../support/http/admin';
import type { SeededRandom } from '../../../support/seeded-random';
import { PASSING_TAGS } from '../world/database';
import type { LeafProcess } from '../world/leaf-process';
import type { ChaosWorld } from '../world/world';
import { ask, type Reply } from './http-ask';
import type { Books } from './recorder';
import { codeOf } from './server-caller';

const STEPS = [500, 1000, 2000, 4000] as const;
/** More than all servers take between the look and the change. */
const RAISE = 10_000_000n;
/** Longer than a server works on a change. */
const LIMIT_MS = 7000;
const LEAST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 600;

type Change = 'create' | 'change' | 'raise' | 'pause' | 'resume' | 'delete';

type Act = (server: LeafProcess) => Promise<Reply>;

/**
 * Operators who change tags over the admin API all the time, whatever fails meanwhile. Some tags they pause, resume,
 * delete and create again, now and then both at once: what such a tag gave before it was deleted must not come again.
 */
export class TagChanger {
  /** How often each change was made. */
  readonly made: Record<Change, number> = { create: 0, change: 0, raise: 0, pause: 0, resume: 0, delete: 0 };
  private readonly done: Promise<unknown>;
  private ended = false;

  constructor(
    private readonly world: ChaosWorld,
    private readonly books: Books,
    private readonly random: SeededRandom,
  ) {
    this.done = Promise.all([this.changeLasting(), ...PASSING_TAGS.map((tag) => this.changePassing(tag))]);
  }

  async end(): Promise<void> {
    this.ended = true;
    await this.done;
  }

  /** Steps and `max_id` of tags that stay. */
  private async changeLasting(): Promise<void> {
    while (!this.ended) {
      await this.make('change', 'order', (server) => this.patch(server, 'order', { step: this.random.pick(STEPS) }));
      await this.pause();
      await this.make('raise', 'user', (server) => this.raise(server, 'user'));
      await this.pause();
    }
  }

  private async changePassing(tag: string): Promise<void> {
    while (!this.ended) {
      const step = this.random.pick(STEPS);
      await this.make('change', tag, (server) => this.patch(server, tag, { step, description: `step ${step}` }));
      await this.pause();
      // A pause is one of one server.
      const server = this.anyServer();
      await this.make('pause', tag, (each) => this.admin(each, 'POST', `/${tag}/pause`), server);
      await this.pause();
      await this.make('resume', tag, (each) => this.admin(each, 'POST', `/${tag}/resume`), server);
      const removed = this.make('delete', tag, (each) => this.admin(each, 'DELETE', `/${tag}`));
      if (this.random.chance(0.5)) {
        await removed;
        await this.pause();
      }
      const create: Act = (each) => this.admin(each, 'POST', '', { tag, step });
      await Promise.all([removed, this.make('create', tag, create), this.make('create', tag, create)]);
      await this.pause();
    }
  }

  /** Tries one server after the other, or the same again, until one has made the change or found it made. */
  private async make(change: Change, tag: string, act: Act, only?: LeafProcess): Promise<void> {
    while (!this.ended) {
      const server = only ?? this.anyServer();
      const startedAt = this.books.now();
      const reply = await this.world.tagChanges.pass(() => act(server));
      if (!('fault' in reply) && reply.status < 300) {
        this.made[change]++;
        return;
      }
      // It was made by a call that got no answer, or at the same time; or a failover has lost the tag, or its deletion.
      if (!('fault' in reply) && (reply.status === 404 || reply.status === 409)) return;
      const code = 'fault' in reply ? reply.fault : codeOf(reply);
      const call = { server, caller: 'tag changer', mode: 'segment', tag, code } as const;
      this.books.judge.note({ ...call, startedAt, endedAt: this.books.now() });
      await this.pause();
    }
  }

  private async raise(server: LeafProcess, tag: string): Promise<Reply> {
    const found = await this.admin(server, 'GET', `/${tag}`);
    if ('fault' in found || found.status !== 200) return found;
    const { maxId } = JSON.parse(found.body) as { maxId: string };
    return this.patch(server, tag, { maxId: String(BigInt(maxId) + RAISE) });
  }

  private patch(server: LeafProcess, tag: string, body: unknown): Promise<Reply> {
    return this.admin(server, 'PATCH', `/${tag}`, body);
  }

  private admin(server: LeafProcess, method: string, path: string, body?: unknown): Promise<Reply> {
    const authorization = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const question = { port: server.edges.client.port, path: `/api/tags${path}`, method, limitMs: LIMIT_MS };
    if (body === undefined) return ask({ ...question, headers: authorization });
    const headers = { ...authorization, 'content-type': 'application/json' };
    return ask({ ...question, headers, body: JSON.stringify(body) });
  }

  private anyServer(): LeafProcess {
    const { servers } = this.world;
    return servers[this.random.below(servers.length)]!;
  }

  private pause(): Promise<void> {
    return sleep(LEAST_PAUSE_MS + this.random.below(MAX_PAUSE_MS - LEAST_PAUSE_MS));
  }
}
