import { formatInstance, type StoredWorker, type WorkerStore } from '@leaf-ids/core';
import { WorkerWindows } from '@leaf-ids/core/internal';
import { FakeClock, InMemoryWorkers } from '@leaf-ids/core/testing';
import { PLAIN, SEQUENTIAL } from '../../../libs/registry/src/stores/zookeeper/node-layout';
import { ZookeeperWorkerStore } from '../../../libs/registry/src/stores/zookeeper/zookeeper-store';
import { countedStore } from './counted-worker-store';
import { InMemoryZookeeper } from './in-memory-zookeeper';
import { LeaseRig, REPORT_MS } from './lease-rig';
import { RegistryTraffic } from './registry-traffic';

/** As the jobs of a runtime call it. */
export const MAINTAIN_MS = 120_000;

export interface FleetOptions {
  readonly servers: number;
  readonly registry: 'zk_recycle' | 'zk_normal' | 'database';
  readonly leaseTtlMs?: number;
}

interface Member {
  readonly rig: LeaseRig;
  readonly number: number;
}

/**
 * Servers on one registry in memory, on simulated time: each has the shipped store (of ZooKeeper), registry and lease,
 * reports every 3 s, and runs the maintenance every two minutes at a time of its own.
 */
export class RegistryServers {
  readonly clock = new FakeClock();
  readonly traffic = new RegistryTraffic();
  private readonly zookeeper = new InMemoryZookeeper(this.traffic);
  private readonly database = new InMemoryWorkers();
  private readonly members: Member[] = [];
  private elapsed = 0;

  constructor(private readonly options: FleetOptions) {}

  get rigs(): readonly LeaseRig[] {
    return this.members.map(({ rig }) => rig);
  }

  /** Starts all servers, one after the other. */
  async start(): Promise<void> {
    while (this.members.length < this.options.servers) await this.startOne();
  }

  /** Starts one more server. */
  async startOne(): Promise<void> {
    const number = this.members.length;
    const { registry, leaseTtlMs } = this.options;
    const instance = { ip: `10.0.${number >> 8}.${number & 255}`, port: 8080 };
    const store = this.connect(`http://${formatInstance(instance)}`);
    const policy = registry === 'zk_normal' ? 'fixed' : 'pool';
    const options = { policy, instance, ...(leaseTtlMs !== undefined && { leaseTtlMs }) } as const;
    const rig = await new LeaseRig(this.clock, store, options).start();
    await rig.registry.maintain(MAINTAIN_MS);
    this.members.push({ rig, number });
  }

  /** Ends a server as a crash does: its record stays. */
  crash(rig: LeaseRig): void {
    this.members.splice(this.rigs.indexOf(rig), 1);
  }

  /** Runs the jobs of all servers for `ms` milliseconds. */
  async run(ms: number): Promise<void> {
    for (const end = this.elapsed + ms; this.elapsed < end; this.elapsed += REPORT_MS) {
      await this.clock.advance(REPORT_MS);
      for (const { rig, number } of this.members) {
        await rig.report();
        if ((this.elapsed + number * REPORT_MS) % MAINTAIN_MS === 0) await rig.registry.maintain(MAINTAIN_MS);
      }
    }
  }

  /** Requests the list of servers `times` times from one server, as an open console does. */
  async watch(times: number): Promise<void> {
    for (let n = 0; n < times; n++) await this.rigs[0]!.registry.peers();
  }

  /** Hands out one worker window. */
  async issueWindow(): Promise<void> {
    const { registry } = this.rigs[0]!;
    const windows = new WorkerWindows(registry, { ip: '10.0.0.0', port: 8080 }, this.clock, Infinity);
    await windows.issue('0'.repeat(32), 'growth', 60_000);
  }

  records(): Promise<StoredWorker[]> {
    return this.rigs[0]!.registry.records();
  }

  private connect(url: string): WorkerStore {
    const { registry } = this.options;
    if (registry === 'database') return countedStore(this.database, this.traffic);
    const nodes = registry === 'zk_normal' ? SEQUENTIAL : PLAIN;
    const options = { name: 'leaf', zookeeper: 'zk', url };
    const store = new ZookeeperWorkerStore(this.zookeeper.connect(), nodes, options, this.clock);
    // There is no network to ask other servers over: all have the same clock.
    const timeSources = store.timeSources.bind(store);
    const ask = (): Promise<number> => Promise.resolve(this.clock.now());
    store.timeSources = async () => (await timeSources()).map(({ name }) => ({ name, ask }));
    return store;
  }
}
