import { LeafError, type IssueWindow, type WorkerClaim, type WorkerLease } from '@leaf/core';
import type { StoredRecord, Write } from './stored-record';
import type { SimRegistry, Token } from './registries/sim-registry';
import { SqlRegistry } from './registries/sql-registry';
import { StoreClient } from './registries/store-client';
import { ZkNormalRegistry } from './registries/zk-normal-registry';
import { ZkRecycleRegistry } from './registries/zk-recycle-registry';
import { correct, type Rules } from './rules';

/** The window of `lease`, but for some of its bounds. */
function bounded(lease: WorkerLease, bounds: { readonly floor?: number; readonly ceiling?: number }): IssueWindow {
  return {
    workerId: lease.workerId,
    get floor() {
      return bounds.floor ?? lease.floor;
    },
    get ceiling() {
      return bounds.ceiling ?? lease.ceiling;
    },
    get renewAfter() {
      return lease.renewAfter;
    },
    get lost() {
      return lease.lost;
    },
    renew: () => lease.renew(),
  };
}

/** The registry of {@link correct}, with one of its methods replaced. */
function patched(name: string, patch: (registry: SimRegistry) => Partial<SimRegistry>): Rules {
  return {
    ...correct,
    name,
    registry: (...made) => {
      const registry = correct.registry(...made);
      return Object.assign(registry, patch(registry));
    },
  };
}

const issuesAboveCeiling: Rules = {
  ...correct,
  name: 'R1: issues above the recorded ceiling',
  window: (lease) => bounded(lease, { ceiling: Infinity }),
};

const countsUnknownExtensions = patched('R1: counts an extension of unknown outcome as done', (registry) => {
  const extend = registry.extend.bind(registry);
  return {
    async extend(claim: WorkerClaim, ceiling: number) {
      try {
        return await extend(claim, ceiling);
      } catch (error) {
        if (error instanceof LeafError && error.code === 'LEAF_LEASE_LOST') throw error;
        return { ...claim, ceiling };
      }
    },
  };
});

const startsAnywhere: Rules = {
  ...correct,
  name: 'R2: starts at or below the ceiling it has read',
  window: (lease) => bounded(lease, { floor: 0 }),
};

/** Every write is made, whatever the record has become since it was read. */
class CarelessClient extends StoreClient {
  override write(write: Write): Promise<boolean> {
    return super.write({ ...write, compare: () => true });
  }
}

const writesWithoutCompare: Rules = {
  ...correct,
  name: 'R3: writes without comparing',
  client: (store, network, process) => new CarelessClient(store, network, process),
};

const releasesEverything = patched('R4: a release leaves a ceiling below what was issued', (registry) => {
  const release = registry.release.bind(registry);
  return { release: (claim: WorkerClaim) => release(claim, claim.previousCeiling) };
});

class LeaselessSqlRegistry extends SqlRegistry {
  protected override isOurs(found: StoredRecord, { pending }: Token): boolean {
    return pending.includes(found.ceiling);
  }
}

const readsBackWithoutLeaseId: Rules = {
  ...correct,
  name: 'reading back compares the ceiling, but not the lease ID',
  protocol: 'sql',
  registry: (_, client) => new LeaselessSqlRegistry(client),
};

class UnmarkedZkRegistry extends ZkNormalRegistry {
  protected override acquisition(wanted: number): number {
    return this.extension(wanted);
  }
}

const acquiresEven: Rules = {
  ...correct,
  name: 'an acquisition writes an even ceiling, too',
  protocol: 'zk_normal',
  registry: (_, client) => new UnmarkedZkRegistry(client),
};

class VersionlessZkRegistry extends ZkNormalRegistry {
  protected override isOurs(found: StoredRecord, { pending }: Token): boolean {
    return pending.includes(found.ceiling);
  }
}

const readsBackWithoutVersion: Rules = {
  ...correct,
  name: 'reading back compares the ceiling, but not the version',
  protocol: 'zk_normal',
  registry: (_, client) => new VersionlessZkRegistry(client),
};

class ForgetfulPoolRegistry extends ZkRecycleRegistry {
  protected override reclaimed(): Write['change'] {
    return { ceiling: 0 };
  }
}

const reclaimsWithCeiling: Rules = {
  ...correct,
  name: 'the reclaim job clears the ceiling',
  protocol: 'zk_recycle',
  registry: (_, client, random) => new ForgetfulPoolRegistry(client, random),
};

/** One rule out of force each. */
export const brokenRules: readonly Rules[] = [
  issuesAboveCeiling,
  countsUnknownExtensions,
  startsAnywhere,
  writesWithoutCompare,
  releasesEverything,
  readsBackWithoutLeaseId,
  acquiresEven,
  readsBackWithoutVersion,
  reclaimsWithCeiling,
];
