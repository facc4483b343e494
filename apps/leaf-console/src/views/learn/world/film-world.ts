import type { Entry, FilmEventKind } from './film-events';
import { FilmProcess, type Surroundings } from './film-process';
import { FilmServer, REGISTRY_LAYOUT, type ServerSetup } from './film-server';
import { FilmTime, settled, START } from './film-time';
import type { Issued, Window } from './issued';
import { FixedPolicy, InMemoryWorkers, LeafError, PoolPolicy } from './leaf';

export interface WorldSetup {
  /** `pool`: servers share worker IDs. `fixed`: each address has its own. */
  readonly policy: 'pool' | 'fixed';
  readonly servers: readonly ServerSetup[];
  /** Number of worker IDs of a pool. */
  readonly workers?: number;
}

type ServerAction = 'start' | 'stop' | 'crash' | 'pause' | 'resume' | 'cut' | 'connect';

/** `stop-replication`: a replica receives no more writes. `fail-over`: to that replica. */
type RegistryAction = 'empty' | 'stop-replication' | 'fail-over';

export type Action =
  | { readonly do: ServerAction; readonly server: string }
  | { readonly do: 'clock'; readonly server: string; readonly ms: number }
  | { readonly do: RegistryAction };

/** Servers, each with a clock and a network, and one registry, which is not new: its grace period has ended. */
export class FilmWorld {
  readonly time = new FilmTime();
  readonly servers: readonly FilmServer[];
  readonly workers: InMemoryWorkers;
  readonly log: Entry[] = [];
  readonly ids: Issued[] = [];
  readonly windows: Window[] = [];
  /** All that were started, the newest last. */
  readonly processes: FilmProcess[] = [];
  private readonly known = new Map<bigint, Issued>();
  private readonly around: Surroundings;
  private replica: ReturnType<InMemoryWorkers['copy']> | undefined;

  constructor({ policy, servers, workers = 1 }: WorldSetup) {
    this.servers = servers.map((setup) => new FilmServer(setup, this.time));
    const isPool = policy === 'pool';
    // Tables number their rows from 1.
    this.workers = new InMemoryWorkers(isPool ? 0 : 1);
    this.workers.document = {
      ...{ id: 'registry', madeAt: START, strategy: 'film', layout: REGISTRY_LAYOUT, highest: -1 },
      ...{ generation: 1, origin: this.workers.origin, began: START, floor: START - 1 },
    };
    this.around = {
      ...{ time: this.time, workers: this.workers, maxWorkerId: isPool ? workers - 1 : 511 },
      policy: isPool ? new PoolPolicy() : new FixedPolicy(),
      listener: (process, kind, detail) => this.listen(process, kind, detail),
    };
  }

  get duplicates(): readonly Issued[] {
    return this.ids.filter(({ first }) => first !== undefined);
  }

  server(name: string): FilmServer {
    const found = this.servers.find((server) => server.name === name);
    if (found === undefined) throw new Error(`There is no server ${name}`);
    return found;
  }

  /** The newest process of a server. */
  processOf(server: FilmServer): FilmProcess | undefined {
    return this.processes.findLast((process) => process.server === server);
  }

  /** Runs the next event at or before `until`. @returns whether there was one */
  async step(until: number): Promise<boolean> {
    const found = await this.time.step(until);
    this.follow();
    return found;
  }

  async act(action: Action): Promise<void> {
    if (!('server' in action)) this.actOnRegistry(action.do);
    else if (action.do === 'clock') this.server(action.server).clock.offset += action.ms;
    else this.actOn(this.server(action.server), action.do);
    await settled();
    this.follow();
  }

  private actOnRegistry(action: RegistryAction): void {
    const { workers } = this;
    switch (action) {
      case 'empty':
        workers.wipe();
        return;
      case 'stop-replication':
        this.replica = workers.copy();
        return;
      case 'fail-over':
        if (this.replica !== undefined) workers.promote(this.replica, `${workers.origin}'`);
    }
  }

  private actOn(server: FilmServer, action: ServerAction): void {
    const process = this.processOf(server);
    switch (action) {
      case 'start':
        if (process?.alive !== true)
          this.processes.push(new FilmProcess(server, (process?.start ?? 0) + 1, this.around));
        return;
      case 'stop':
        void process?.stop();
        return;
      case 'crash':
        server.paused = false;
        process?.crash();
        return;
      case 'pause':
        server.paused = true;
        return;
      case 'resume':
        server.paused = false;
        if (process !== undefined) this.time.resume(process);
        return;
      case 'cut':
      case 'connect':
        server.cut = action === 'cut';
        process?.connect();
    }
  }

  private listen(process: FilmProcess, kind: FilmEventKind, detail: unknown): void {
    if (kind === 'id') this.issued(process, detail as bigint);
    else this.note(process, kind, detail);
  }

  private note(process: FilmProcess, kind: Entry['kind'], detail: unknown): void {
    const { tenure, ceiling } = process.lease;
    const { clock } = process.server;
    if (kind === 'acquired' && tenure !== undefined) {
      const from = Math.max(tenure.floor, clock.now()) - START;
      this.windows.push({ process, workerId: tenure.workerId, from, ceiling: ceiling - START, held: true });
    }
    if (kind === 'stopped') this.released(process);
    if (kind === 'refused-to-start' && this.log.at(-1)?.kind === 'acquire-failed') this.log.pop();
    const code = detail instanceof LeafError ? detail.code : undefined;
    const before = this.log.findLast((entry) => entry.process === process.name);
    // What is repeated is one entry.
    const isRepeated = kind === 'duplicate' ? before?.kind === kind : code !== undefined && before?.code === code;
    if (isRepeated && kind !== 'refused-to-start') return;
    this.log.push({ at: this.time.now, process: process.name, kind, workerId: tenure?.workerId, code });
  }

  /** A release lowers the ceiling. */
  private released(process: FilmProcess): void {
    const window = this.newestOf(process);
    const ceiling = window && this.workers.records.get(window.workerId)?.record.ceiling;
    if (window !== undefined && ceiling !== undefined) Object.assign(window, { ceiling: ceiling - START, held: false });
  }

  private issued(process: FilmProcess, id: bigint): void {
    const { timestamp, workerId, sequence } = process.server.layout.decompose(id);
    const first = this.known.get(id);
    const issued = { id, process, timestamp: timestamp - START, workerId, sequence, first };
    this.ids.push(issued);
    if (first === undefined) this.known.set(id, issued);
    else this.note(process, 'duplicate', undefined);
  }

  /** Reads the ceilings again. */
  private follow(): void {
    for (const process of this.processes) {
      const window = this.newestOf(process);
      if (window === undefined) continue;
      const { tenure, ceiling } = process.lease;
      window.held = process.alive && tenure?.workerId === window.workerId;
      if (!window.held || tenure === undefined) continue;
      const now = process.server.clock.now() - START;
      // A clock that was ahead is correct again.
      if (now < window.from) window.from = Math.max(now, tenure.floor - START);
      if (ceiling - START === window.ceiling) continue;
      if (now <= window.ceiling) {
        window.ceiling = ceiling - START;
        continue;
      }
      // Nothing was reserved in between.
      window.held = false;
      this.windows.push({ ...window, from: now, ceiling: ceiling - START, held: true });
    }
  }

  private newestOf(process: FilmProcess): Window | undefined {
    return this.windows.findLast((window) => window.process === process);
  }
}
