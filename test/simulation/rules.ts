import type { IssueWindow, WorkerLease } from '@leaf/core';
import type { Protocol } from './conditions';
import type { Caller, Network } from './network';
import type { RecordStore } from './record-store';
import type { SimRegistry } from './registries/sim-registry';
import { SqlRegistry } from './registries/sql-registry';
import { StoreClient } from './registries/store-client';
import { ZkNormalRegistry } from './registries/zk-normal-registry';
import { ZkRecycleRegistry } from './registries/zk-recycle-registry';
import type { SeededRandom } from './seeded-random';

/** How the parts of a server are made: the places at which a rule can be put out of force. */
export interface Rules {
  readonly name: string;
  /** The only protocol that knows the rule; undefined when all do. */
  readonly protocol: Protocol | undefined;
  readonly client: (store: RecordStore, network: Network, process: Caller) => StoreClient;
  readonly registry: (protocol: Protocol, client: StoreClient, random: SeededRandom) => SimRegistry;
  readonly window: (lease: WorkerLease) => IssueWindow;
}

/** Every rule in force. */
export const correct: Rules = {
  name: 'as specified',
  protocol: undefined,
  client: (store, network, process) => new StoreClient(store, network, process),
  registry: (protocol, client, random) => {
    switch (protocol) {
      case 'sql':
        return new SqlRegistry(client);
      case 'zk_normal':
        return new ZkNormalRegistry(client);
      case 'zk_recycle':
        return new ZkRecycleRegistry(client, random);
    }
  },
  window: (lease) => lease,
};
