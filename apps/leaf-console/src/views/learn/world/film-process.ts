import type { FilmServer } from './film-server';
import type { FilmTime, Owner } from './film-time';
import type { FilmEventKind, FilmListener } from './film-events';
import {
  DEFAULT_SNOWFLAKE_OPTIONS,
  InMemoryWorkerStore,
  type InMemoryWorkers,
  LeafError,
  SnowflakeGenerator,
  WorkerLease,
  type WorkerPolicy,
  WorkerRegistry,
} from './leaf';

/** What the processes of a film share. */
export interface Surroundings {
  readonly time: FilmTime;
  readonly workers: InMemoryWorkers;
  readonly policy: WorkerPolicy;
  readonly maxWorkerId: number;
  readonly listener: FilmListener<FilmProcess>;
}

/** Short, so that a film is short: in milliseconds. */
export const LEASE = { horizonMs: 6000, reportMs: 2000, maxClockOffsetMs: 1000 } as const;
/** With these, a start fails for good. After all others, the next report tries again. */
const ENDING = new Set(['LEAF_CLOCK_BEHIND', 'LEAF_LAYOUT_MISMATCH', 'LEAF_WORKER_HELD']);
/** Requests come when the clock of the server shows a multiple of this. */
const ASK_MS = 500;

/** One process of a server from its start to its end: the shipped registry, lease and generator. */
export class FilmProcess implements Owner {
  alive = true;
  readonly lease: WorkerLease;
  private readonly registry: WorkerRegistry;
  private readonly ids: SnowflakeGenerator;
  private readonly store: InMemoryWorkerStore;
  /** Code of the latest refusal; undefined if the latest request got an ID. */
  private refused: string | undefined;

  /** @param start number of this start of the server, from 1 */
  constructor(
    readonly server: FilmServer,
    readonly start: number,
    private readonly around: Surroundings,
  ) {
    const { clock, instance, layout } = server;
    const { workers, policy, maxWorkerId, listener } = around;
    clock.owner = this;
    this.store = new InMemoryWorkerStore(workers);
    // The smallest random number always: a server starts each millisecond at sequence 0, and a film is always the same.
    const random = (): number => 0;
    this.registry = new WorkerRegistry(
      { store: this.store, policy, clock, random, newId: () => `registry at ${clock.now()}` },
      { ...LEASE, name: 'film', layout: layout.fingerprint, maxWorkerId, remembers: false },
    );
    const tell =
      (kind: FilmEventKind) =>
      (detail: unknown): void =>
        listener(this, kind, detail);
    this.lease = new WorkerLease(this.registry, instance, this.name, () => this.ids.lastTimestamp, clock, {
      onWaiting: tell('waiting'),
      onAcquired: tell('acquired'),
      onReportFailed: tell('report-failed'),
      onAcquireFailed: tell('acquire-failed'),
      onRegisteredAgain: tell('registered-again'),
      onHistoryLost: tell('gave-up'),
      onLost: tell('lost'),
    });
    this.ids = new SnowflakeGenerator(layout, this.lease, clock, random, DEFAULT_SNOWFLAKE_OPTIONS);
    this.connect();
    listener(this, 'started', undefined);
    void this.lease.acquire().catch((error: unknown) => this.startFailed(error));
    this.every(LEASE.reportMs, () => this.report());
    this.askNext();
  }

  /** `A`, or `A2` for the second start of server A. */
  get name(): string {
    return this.start === 1 ? this.server.name : `${this.server.name}${this.start}`;
  }

  /** Why it cannot issue an ID now; undefined if it can. */
  get refusal(): LeafError | undefined {
    return this.ids.refusal();
  }

  get paused(): boolean {
    return this.server.paused;
  }

  /** `SIGTERM`. */
  async stop(): Promise<void> {
    await this.lease.release().catch(() => undefined);
    this.end('stopped', undefined);
  }

  crash(): void {
    this.end('crashed', undefined);
  }

  /** Follows the network of the server. */
  connect(): void {
    this.store.line = this.server.cut ? 'down' : 'up';
  }

  private end(kind: 'crashed' | 'stopped' | 'refused-to-start', detail: unknown): void {
    if (!this.alive) return;
    this.alive = false;
    this.around.listener(this, kind, detail);
  }

  private startFailed(error: unknown): void {
    if (error instanceof LeafError && ENDING.has(error.code)) this.end('refused-to-start', error);
  }

  private report(): void {
    void this.lease.report.run();
    // A negative interval makes every turn overdue, so that each server maintains the registry at each report and no
    // scene waits for it.
    void this.registry.maintain(-LEASE.horizonMs).catch(() => undefined);
  }

  private askNext(): void {
    const { clock } = this.server;
    const { time } = this.around;
    const wait = ASK_MS - (clock.now() % ASK_MS);
    time.at(time.now + wait, this, () => {
      // A step of the clock moves the next multiple.
      if (clock.now() % ASK_MS === 0) this.ask();
      this.askNext();
    });
  }

  private ask(): void {
    const id = this.ids.tryNext();
    const refusal = id === undefined ? this.refusal : undefined;
    if (refusal?.code !== this.refused) this.around.listener(this, refusal ? 'refuses' : 'issues', refusal);
    this.refused = refusal?.code;
    if (id !== undefined) this.around.listener(this, 'id', id);
  }

  private every(ms: number, run: () => void): void {
    this.around.time.at(this.around.time.now + ms, this, () => {
      this.every(ms, run);
      run();
    });
  }
}
