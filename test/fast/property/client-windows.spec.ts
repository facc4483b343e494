import { type BitLayout, LeafError } from '@leaf-ids/core';
import { defaultLayout, type WindowProgress, type WorkerWindow, WorkerWindows } from '@leaf-ids/core/internal';
import { FakeClock, InMemoryWorkers, InMemoryWorkerStore } from '@leaf-ids/core/testing';
import fc from 'fast-check';
import { ServerFault } from '../../../libs/client/src/servers/server-health';
import type { HttpRequest } from '../../../libs/client/src/http/http-connection';
import { CallerLimit } from '../../../libs/client/src/prefetch/prefetch-context';
import { WindowSnowflakes } from '../../../libs/client/src/window/window-snowflakes';
import { inTime, LeaseRig } from '../../support/fakes/lease-rig';
import { runs } from '../../support/runs';

const WINDOW_MS = 10_000;
const TIMEOUT_MS = 1000;
const SERVERS = 2;
const CLIENTS = 3;
/** Fewer worker IDs than leases: they pass from one client to the next. */
const MAX_WORKER_ID = 3;

/** A clock with an offset of its own, whose sleeps end late after a pause of its process. */
class OwnClock extends FakeClock {
  offset = 0;
  pausedUntil = 0;

  constructor(private readonly base: FakeClock) {
    super(0);
  }

  override now(): number {
    return this.base.now() + this.offset;
  }

  override monotonic(): number {
    return this.base.monotonic();
  }

  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await this.base.sleep(ms, signal);
    await this.resumed();
  }

  override pause(): void {
    // A blocking call gives up: the time of this test does not pass by itself.
  }

  override step(ms: number): void {
    this.offset += ms;
  }

  get paused(): boolean {
    return this.base.monotonic() < this.pausedUntil;
  }

  async resumed(): Promise<void> {
    if (this.pausedUntil === Infinity) await new Promise(() => undefined);
    while (this.paused) await this.base.sleep(this.pausedUntil - this.base.monotonic());
  }
}

type Fate = 'answered' | 'lost before' | 'lost after' | 'late' | 'executed late';

/** The timestamps that one lease has used. */
interface Span {
  readonly least: number;
  readonly most: number;
}

/** Servers on one registry, and clients that reach them over a network with faults. Throws at the first wrong ID. */
class World {
  readonly clock = new FakeClock();
  readonly clients: {
    readonly ids: WindowSnowflakes;
    readonly clock: OwnClock;
    readonly close: () => Promise<void>;
  }[] = [];
  readonly serverClocks: OwnClock[] = [];
  fates: Fate[] = [];
  /** Counts random numbers and leases. */
  private drawn = 0;
  losses = 0;
  /** Clients that were taken for copies of others: there are none. */
  copied = 0;
  private readonly layout: BitLayout = defaultLayout();
  private readonly windows: WorkerWindows[] = [];
  private readonly leases: number[] = [];
  /** By worker ID and lease: those of one worker must not overlap. */
  private readonly used = new Map<number, Map<string, Span>>();
  private readonly seen = new Set<bigint>();
  /** The newest answer that has arrived at each client. */
  private readonly arrived: (WorkerWindow | undefined)[] = [];

  async start(): Promise<this> {
    const workers = new InMemoryWorkers();
    for (let server = 0; server < SERVERS; server++) {
      const clock = new OwnClock(this.clock);
      const store = new InMemoryWorkerStore(workers);
      const options = { policy: 'pool', instance: { port: server + 1 }, maxWorkerId: MAX_WORKER_ID } as const;
      const { registry } = new LeaseRig(clock, store, options);
      this.serverClocks.push(clock);
      this.windows.push(new WorkerWindows(registry, { ip: '10.0.0.7', port: server + 1 }, clock, MAX_WORKER_ID + 1));
    }
    // The first request starts the grace period of a new registry.
    await this.windows[0]?.issue('0'.repeat(32), 'first', WINDOW_MS).catch(() => undefined);
    await this.clock.advance(60_000);
    for (let client = 0; client < CLIENTS; client++) this.open(client);
    return this;
  }

  get count(): number {
    return this.seen.size;
  }

  /** Takes IDs as a client, and checks them. */
  take(client: number, count: number): void {
    const { ids, clock } = this.clients[client]!;
    for (let taken = 0; taken < count && !clock.paused; taken++) {
      const id = ids.tryNext();
      if (id !== undefined) this.check(client, BigInt(id));
    }
  }

  async restart(client: number): Promise<void> {
    await inTime(this.clock, this.clients[client]!.close());
    this.open(client);
  }

  /** Its worker ID stays reserved up to the end of the window. */
  crash(client: number): void {
    this.clients[client]!.clock.pausedUntil = Infinity;
    this.open(client);
  }

  /** Another process that knows the lease releases it. */
  async releaseByHand(client: number): Promise<void> {
    const lease = this.arrived[client]?.lease;
    if (lease !== undefined) await this.windows[0]?.release(lease);
  }

  async end(): Promise<void> {
    this.fates = [];
    await inTime(this.clock, Promise.all(this.clients.map(({ close }) => close())));
  }

  private open(client: number): void {
    const clock = new OwnClock(this.clock);
    clock.offset = this.clients[client]?.clock.offset ?? 0;
    const closing = new AbortController();
    this.arrived[client] = undefined;
    const ids = new WindowSnowflakes(
      {
        requester: { send: (_policy, request, read) => this.send(client, clock, request, read) },
        ...{ clock, random: (bound) => this.drawn++ % bound, timeoutMs: TIMEOUT_MS, closing: closing.signal },
        callerLimit: new CallerLimit(10),
        events: {
          onWindowAcquired: () => void (this.leases[client] = (this.leases[client] ?? 0) + 1),
          onWindowLost: () => this.losses++,
          onWindowFailed: () => undefined,
        },
        newLease: () => (++this.drawn).toString(16).padStart(32, '0'),
      },
      { holder: `client-${client}`, windowMs: WINDOW_MS },
      undefined,
    );
    const close = async (): Promise<void> => {
      ids.close(new LeafError('LEAF_NOT_READY', 'closed'));
      closing.abort();
      await ids.release();
    };
    this.clients[client] = { ids, clock, close };
  }

  private check(client: number, id: bigint): void {
    const { workerId, timestamp } = this.layout.decompose(id);
    if (this.seen.has(id)) throw new Error(`ID ${id} twice`);
    this.seen.add(id);
    const window = this.arrived[client];
    if (window?.workerId !== workerId || timestamp < window.from || timestamp > window.until) {
      throw new Error(
        `Worker ${workerId} issued ${timestamp} outside of ${window?.workerId}: ${window?.from} to ${window?.until}`,
      );
    }
    const lease = `${client}/${this.leases[client]}`;
    const spans = this.used.get(workerId) ?? new Map<string, Span>();
    const { least, most } = spans.get(lease) ?? { least: timestamp, most: timestamp };
    const span = { least: Math.min(least, timestamp), most: Math.max(most, timestamp) };
    this.used.set(workerId, spans.set(lease, span));
    for (const [other, { least, most }] of spans) {
      if (other === lease || most < span.least || least > span.most) continue;
      throw new Error(`Leases ${lease} and ${other} of worker ${workerId} overlap at ${timestamp}`);
    }
  }

  private async send<T>(client: number, clock: OwnClock, request: HttpRequest, read: (body: unknown) => T): Promise<T> {
    const fate = this.fates.shift() ?? 'answered';
    await this.clock.sleep(1);
    if (fate === 'executed late') {
      void this.clock.sleep(3 * TIMEOUT_MS).then(() => this.execute(request).catch(() => undefined));
    }
    if (fate === 'lost before' || fate === 'executed late') return this.unanswered(clock);
    const answer = await this.execute(request).catch((error: unknown) => {
      if (fate === 'lost after') return undefined;
      if (String(error).includes('is a copy of')) this.copied++;
      throw error;
    });
    if (fate === 'lost after') return this.unanswered(clock);
    if (fate === 'late') await this.clock.sleep(TIMEOUT_MS - 2);
    await clock.resumed();
    try {
      const value = read(answer);
      this.arrived[client] = request.method === 'DELETE' ? undefined : (answer as WorkerWindow);
      return value;
    } catch (error) {
      if (error instanceof ServerFault) throw unavailable();
      throw error;
    }
  }

  private async unanswered(clock: OwnClock): Promise<never> {
    await this.clock.sleep(TIMEOUT_MS);
    await clock.resumed();
    throw unavailable();
  }

  /** One server after the other, as a client that fails over. */
  private async execute({ method, path, body = {} }: HttpRequest): Promise<object | undefined> {
    const server = this.seen.size % SERVERS;
    const windows = this.windows[server]!;
    const fields = body as {
      lease: string;
      holder: string;
      workerId: number;
      lastTimestamp: number;
    } & Partial<WindowProgress>;
    const lease = path.replace(/^.*\//, '');
    const { known, mark } = fields;
    const progress = known === undefined ? undefined : { known, mark };
    if (method === 'DELETE') {
      await windows.release(lease, fields.lastTimestamp, progress);
      return undefined;
    }
    const window =
      method === 'POST'
        ? (await windows.issue(fields.lease, fields.holder, WINDOW_MS)).window
        : await windows.extend(lease, WINDOW_MS, fields.workerId, progress);
    return { ...window, now: this.serverClocks[server]!.now(), layout: this.layout };
  }
}

function unavailable(): LeafError {
  return new LeafError('LEAF_SERVERS_UNAVAILABLE', 'No server is available.', { retryAfterMs: 1000 });
}

const who = fc.nat(CLIENTS - 1);
const step = fc.oneof(fc.constantFrom(-15_000, -1000, -3, 3, 1000, 15_000), fc.integer({ min: -30_000, max: 30_000 }));
const event = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('take' as const), who, count: fc.constantFrom(1, 10, 5000) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('advance' as const),
      ms: fc.constantFrom(1, 7, 500, 2600, 5100, 12_000, 40_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('pause' as const), who, ms: fc.constantFrom(3000, 12_000, 90_000) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('step client' as const), who, ms: step }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('step server' as const), who: fc.nat(SERVERS - 1), ms: step }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom<('restart' | 'crash' | 'release')[]>('restart', 'crash', 'release'),
      who,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('network' as const),
      fates: fc.array(fc.constantFrom<Fate[]>('answered', 'lost before', 'lost after', 'late', 'executed late'), {
        maxLength: 8,
      }),
    }),
  },
);
type Event = typeof event extends fc.Arbitrary<infer E> ? E : never;

/** In every run, so that each checks a second lease. */
const LOST_AND_ACQUIRED_AGAIN: Event[] = [
  { kind: 'take', who: 0, count: 1 },
  { kind: 'advance', ms: 500 },
  { kind: 'take', who: 0, count: 5000 },
  { kind: 'release', who: 0 },
  { kind: 'advance', ms: 12_000 },
  { kind: 'take', who: 0, count: 5000 },
];

async function apply(world: World, event: Event): Promise<void> {
  switch (event.kind) {
    case 'take':
      world.take(event.who, event.count);
      return;
    case 'advance':
      await world.clock.advance(event.ms);
      return;
    case 'pause': {
      world.clients[event.who]!.clock.pausedUntil = world.clock.monotonic() + event.ms;
      return;
    }
    case 'step client':
      world.clients[event.who]!.clock.step(event.ms);
      return;
    case 'step server':
      world.serverClocks[event.who]!.step(event.ms);
      return;
    case 'restart':
      return world.restart(event.who);
    case 'release':
      return world.releaseByHand(event.who);
    case 'crash':
      world.crash(event.who);
      return;
    case 'network':
      world.fates = [...event.fates];
  }
}

it('no ID comes twice, and none is outside of its window, whatever is lost, late, paused or set back', async () => {
  const totals = { ids: 0, losses: 0 };
  const events = fc.array(event, { minLength: 20, maxLength: 120, size: 'max' });
  await fc.assert(
    fc.asyncProperty(events, async (list) => {
      const world = await new World().start();
      try {
        for (const one of list) await apply(world, one);
      } finally {
        await world.end();
      }
      expect(world.copied).toBe(0);
      totals.ids += world.count;
      totals.losses += world.losses;
    }),
    { numRuns: runs(60), examples: [[LOST_AND_ACQUIRED_AGAIN]] },
  );
  expect(totals.ids).toBeGreaterThan(runs(10_000));
  expect(totals.losses).toBeGreaterThan(0);
});
