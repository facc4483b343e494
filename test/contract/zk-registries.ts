import { randomBytes } from 'node:crypto';
import { type Clock, type LeaseHolder, SystemClock, systemRandom } from '@leaf/core';
import { ZkNormalRegistry } from '../../libs/registry/src/zk-normal/zk-normal-registry';
import { ZkRecycleRegistry } from '../../libs/registry/src/zk-recycle/zk-recycle-registry';
import { parseZookeeperAddress } from '../../libs/registry/src/zookeeper/zookeeper-address';
import { ZookeeperFault } from '../../libs/registry/src/zookeeper/zookeeper-fault';
import type { ZookeeperRegistryOptions } from '../../libs/registry/src/zookeeper/zookeeper-registry';
import { ZookeeperSession, type ZookeeperSessionOptions } from '../../libs/registry/src/zookeeper/zookeeper-session';

/** A name with dashes and digits, as the parsing of a node's name may not mind. */
export const NAME = 'order-service-0000000007';

/** A session that can lose a write on its way there, or the answer to it. */
export class LossySession extends ZookeeperSession {
  private loss: { readonly moment: 'before' | 'after'; readonly of: 'set' | 'create' } | undefined;

  failNextWrite(moment: 'before' | 'after', of: 'set' | 'create' = 'set'): void {
    this.loss = { moment, of };
  }

  override setData(path: string, data: string, version: number): Promise<number> {
    return this.lossy('set', () => super.setData(path, data, version));
  }

  override create(...call: Parameters<ZookeeperSession['create']>): Promise<string> {
    return this.lossy('create', () => super.create(...call));
  }

  private async lossy<T>(of: 'set' | 'create', write: () => Promise<T>): Promise<T> {
    const { loss } = this;
    if (loss?.of !== of) return write();
    // One that is refused is answered; the loss waits for the next.
    if (loss.moment === 'after') await write();
    this.loss = undefined;
    throw new ZookeeperFault('unknown-outcome', `A write was lost ${loss.moment} it was carried out.`);
  }
}

export function openSession(database: string, more: Partial<ZookeeperSessionOptions> = {}): LossySession {
  const address = parseZookeeperAddress(database);
  const limits = { connectMs: 30_000, callMs: 30_000, sessionMs: 30_000 };
  return new LossySession({ address, ...limits, ...more }, new SystemClock(), systemRandom);
}

export function zkNormal(
  session: ZookeeperSession,
  more: Partial<ZookeeperRegistryOptions> = {},
  clock: Clock = new SystemClock(),
): ZkNormalRegistry {
  return new ZkNormalRegistry(session, { name: NAME, maxWorkerId: 1023, zookeeper: 'zk1:2181', ...more }, clock);
}

export function zkRecycle(
  session: ZookeeperSession,
  more: Partial<ZookeeperRegistryOptions> = {},
  clock: Clock = new SystemClock(),
  random = systemRandom,
): ZkRecycleRegistry {
  const options = { name: NAME, maxWorkerId: 1023, zookeeper: 'zk1:2181', ...more };
  return new ZkRecycleRegistry(session, options, clock, random);
}

/** A lease ID never used before. */
export function holderAt(instance: number, ip = '10.0.0.7'): LeaseHolder {
  return { ip, port: 8080 + instance, leaseId: randomBytes(8).toString('hex') };
}

export const LOST = { code: 'LEAF_LEASE_LOST' };
export const UNREACHABLE = { code: 'LEAF_REGISTRY_UNREACHABLE' };
