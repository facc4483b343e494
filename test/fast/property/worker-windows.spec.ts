import { LeafError, type WorkerStore } from '@leaf-ids/core';
import { isWorkerIn, type WorkerWindow, WorkerWindows } from '@leaf-ids/core/internal';
import { FakeClock, InMemoryWorkers, InMemoryWorkerStore, type Line } from '@leaf-ids/core/testing';
import fc from 'fast-check';
import { LeaseRig, POOL_GRACE_MS } from '../../support/fakes/lease-rig';
import { failNextWrite, type Moment } from '../../support/fakes/lost-answers';
import { runs } from '../../support/runs';

const START = 1_700_000_000_000;
const SERVERS = 3;
const CLIENTS = 4;
/** Few enough that clients wait for each other's worker IDs. */
const MAX_WORKER_ID = 2;
/** Each server has another one, and another one again after a restart. */
const RANGES = [
  { first: 0, last: MAX_WORKER_ID },
  { first: 0, last: 1 },
  { first: 1, last: 2 },
] as const;
const RUNS = runs(150);

type Request = {
  readonly kind: 'post' | 'put' | 'delete';
  readonly server: number;
  readonly client: number;
  readonly windowMs: number;
  /** Share of the window that was used before its release. */
  readonly used: number;
};

type Event =
  | { readonly kind: 'requests'; readonly all: readonly Request[] }
  | { readonly kind: 'line'; readonly server: number; readonly line: Line }
  | { readonly kind: 'lost'; readonly server: number; readonly moment: Moment }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'step'; readonly server: number; readonly ms: number }
  | { readonly kind: 'maintain' | 'restart' | 'keep'; readonly server: number }
  | { readonly kind: 'failover' };

/** The timestamps that one lease may have used as one worker. */
interface Span {
  readonly lease: string;
  readonly from: number;
  end: number;
}

/** Servers of one registry, and clients that use every timestamp that they may use. */
class Walk {
  readonly spans = new Map<number, Span[]>();
  answers = 0;
  private readonly workers = new InMemoryWorkers();
  private readonly servers: { clock: FakeClock; store: InMemoryWorkerStore; rig: LeaseRig; windows: WorkerWindows }[] =
    [];
  private readonly leases = Array.from({ length: CLIENTS }, (_, client) => leaseOf(client));
  private readonly ended = new Set<string>();
  private made = CLIENTS;
  private origins = 0;
  private starts = 0;

  constructor(private readonly scheduler: fc.Scheduler) {}

  async start(): Promise<void> {
    for (let server = 0; server < SERVERS; server++) this.add(server, new FakeClock(START));
    await this.settle();
  }

  async apply(event: Event): Promise<void> {
    switch (event.kind) {
      case 'requests':
        await this.together(event.all.map((request) => this.request(request)));
        break;
      case 'line':
        this.servers[event.server]!.store.line = event.line;
        if (event.line === 'up') this.servers[event.server]!.store.deliver();
        break;
      case 'lost':
        failNextWrite(this.servers[event.server]!.store, event.moment);
        break;
      case 'advance':
        for (const { clock } of this.servers) await clock.advance(event.ms);
        break;
      case 'step':
        this.servers[event.server]!.clock.step(event.ms);
        break;
      case 'maintain':
        await this.together([this.servers[event.server]!.rig.registry.maintain()]);
        break;
      case 'keep':
        await this.together([this.servers[event.server]!.windows.keep()]);
        break;
      case 'restart':
        this.add(event.server, this.servers[event.server]!.clock);
        break;
      case 'failover':
        this.workers.promote(this.workers.copy(), `copy ${++this.origins}`);
        break;
    }
    this.check();
  }

  /** After a failover, holders register again, and the grace ends. */
  async settle(): Promise<void> {
    for (const { store, windows } of this.servers) {
      store.line = 'up';
      await this.together([windows.keep()]);
    }
    await this.together([this.servers[0]!.rig.registry.history()]);
    const { document } = this.workers;
    if (document === undefined || document.floor !== undefined) return;
    for (const { clock } of this.servers) await clock.advance(POOL_GRACE_MS);
    const floor = Math.max(...this.servers.map(({ clock }) => clock.now()));
    this.workers.document = { ...document, floor };
  }

  private add(server: number, clock: FakeClock): void {
    const store = new InMemoryWorkerStore(this.workers);
    const rig = new LeaseRig(clock, this.interleaved(store), {
      ...{ policy: 'pool', instance: { port: server }, maxWorkerId: MAX_WORKER_ID, leaseTtlMs: 12_000 },
      workers: RANGES[this.starts++ % RANGES.length]!,
    });
    const windows = new WorkerWindows(rig.registry, { ip: '10.0.0.7', port: server }, clock, CLIENTS + 1);
    this.servers[server] = { clock, store, rig, windows };
  }

  /** Requests that run together reach the store in any order. */
  private interleaved(store: InMemoryWorkerStore): WorkerStore {
    const { scheduler } = this;
    return new Proxy(store, {
      get: (target, name: keyof InMemoryWorkerStore) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function' || !CALLS.includes(name)) return value;
        return async (...args: unknown[]): Promise<unknown> => {
          await scheduler.schedule(Promise.resolve(), name);
          return (target[name] as (...all: unknown[]) => unknown)(...args);
        };
      },
    });
  }

  private async together(acts: readonly Promise<unknown>[]): Promise<void> {
    for (const result of await this.scheduler.waitFor(Promise.allSettled(acts))) {
      if (result.status === 'rejected' && !(result.reason instanceof LeafError)) throw result.reason as Error;
    }
  }

  private async request({ kind, server, client, windowMs, used }: Request): Promise<void> {
    const { windows, rig } = this.servers[server]!;
    const lease = this.leases[client]!;
    if (kind === 'post') {
      const { window, isNew } = await windows.issue(lease, `client ${client}`, windowMs);
      this.told(window);
      if (isNew && !isWorkerIn(rig.registry.workers, window.workerId)) throw new Error('Outside of the range');
    }
    if (kind === 'put') this.told(await windows.extend(lease, windowMs));
    if (kind !== 'delete') return;
    // Whatever comes of the request, the client stops.
    this.leases[client] = leaseOf(this.made++);
    this.ended.add(lease);
    const own = [...this.spans.values()].flat().filter((span) => span.lease === lease);
    const newest = Math.max(0, ...own.map(({ from, end }) => Math.floor(from - 1 + used * (end - from + 1))));
    for (const span of own) span.end = Math.min(span.end, newest);
    await windows.release(lease, newest);
  }

  private told({ workerId, lease, from, until }: WorkerWindow): void {
    this.answers++;
    if (this.ended.has(lease)) return;
    const spans = this.spans.get(workerId) ?? [];
    this.spans.set(workerId, spans);
    const own = spans.find((span) => span.lease === lease && span.from === from);
    if (own === undefined) spans.push({ lease, from, end: until });
    else own.end = Math.max(own.end, until);
  }

  private check(): void {
    for (const [workerId, spans] of this.spans) {
      const used = spans.filter(({ from, end }) => end >= from).sort((a, b) => a.from - b.from);
      used.forEach((span, index) => {
        const next = used[index + 1];
        if (next === undefined || next.from > span.end) return;
        throw new Error(`Worker ${workerId}: ${JSON.stringify(span)} and ${JSON.stringify(next)} overlap`);
      });
    }
  }
}

const CALLS: readonly string[] = ['readRegistry', 'writeRegistry', 'list', 'read', 'create', 'replace'];

function leaseOf(number: number): string {
  return number.toString(16).padStart(32, '0');
}

const server = fc.nat({ max: SERVERS - 1 });
const request: fc.Arbitrary<Request> = fc.record({
  kind: fc.constantFrom('post', 'post', 'put', 'delete'),
  server,
  client: fc.nat({ max: CLIENTS - 1 }),
  windowMs: fc.integer({ min: 10_000, max: 100_000 }),
  used: fc.constantFrom(0, 0.3, 1),
});
const requests = fc.record({
  kind: fc.constant('requests' as const),
  all: fc.array(request, { minLength: 1, maxLength: 5 }),
});
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 8, arbitrary: requests },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('line' as const),
      server,
      line: fc.constantFrom<Line[]>('up', 'down', 'answers are lost', 'writes come late'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('lost' as const),
      server,
      moment: fc.constantFrom<Moment[]>('before', 'after'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 90_000 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('step' as const), server, ms: fc.integer({ min: -3000, max: 3000 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('maintain', 'restart', 'keep'), server }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('failover' as const) }) },
);

describe('worker windows of several servers', () => {
  it('never overlap, whatever requests, faults and restarts come in any order', async () => {
    let answers = 0;
    let shared = 0;
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.array(event, { minLength: 20, maxLength: 60 }), async (scheduler, events) => {
        const walk = new Walk(scheduler);
        await walk.start();
        for (const [index, each] of events.entries()) {
          await walk.apply(each);
          if (each.kind === 'failover' || index % 10 === 9) await walk.settle();
        }
        answers += walk.answers;
        shared += [...walk.spans.values()].filter((spans) => spans.length > 1).length;
      }),
      { numRuns: RUNS },
    );
    expect(answers).toBeGreaterThan(RUNS);
    // Worker IDs went from one holder to the next.
    expect(shared).toBeGreaterThan(RUNS / 4);
  });
});
