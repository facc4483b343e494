import { type Clock, SystemClock } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import type { NodeLayout } from '../../../libs/registry/src/stores/zookeeper/node-layout';
import { parseZookeeperAddress } from '../../../libs/registry/src/stores/zookeeper/zookeeper-address';
import { isFault, ZookeeperFault } from '../../../libs/registry/src/stores/zookeeper/zookeeper-fault';
import {
  ZookeeperSession,
  type ZookeeperSessionOptions,
} from '../../../libs/registry/src/stores/zookeeper/zookeeper-session';
import {
  type ZookeeperStoreOptions,
  ZookeeperWorkerStore,
} from '../../../libs/registry/src/stores/zookeeper/zookeeper-store';

/** A name with dashes and digits, which must not confuse the parser of node names. */
export const NAME = 'order-service-0000000007';

/** A session that can lose a write, the reply to it, or everything. */
export class LossySession extends ZookeeperSession {
  down = false;
  private loss: { readonly moment: 'before' | 'after'; readonly of: 'set' | 'create' } | undefined;

  failNextWrite(moment: 'before' | 'after', of: 'set' | 'create' = 'set'): void {
    this.loss = { moment, of };
  }

  override setData(...call: Parameters<ZookeeperSession['setData']>): ReturnType<ZookeeperSession['setData']> {
    return this.lossy('set', () => super.setData(...call));
  }

  override create(...call: Parameters<ZookeeperSession['create']>): Promise<string> {
    return this.lossy('create', () => super.create(...call));
  }

  override getData(...call: Parameters<ZookeeperSession['getData']>): ReturnType<ZookeeperSession['getData']> {
    if (this.down) return Promise.reject(new ZookeeperFault('unreachable', 'The line is down.'));
    return super.getData(...call);
  }

  private async lossy<T>(of: 'set' | 'create', write: () => Promise<T>): Promise<T> {
    const { loss, down } = this;
    if (down) throw new ZookeeperFault('unreachable', 'The line is down.');
    if (loss?.of !== of) return write();
    // A refused write gets a reply; the next write is lost instead.
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

export function zkStore(
  session: ZookeeperSession,
  layout: NodeLayout,
  more: Partial<ZookeeperStoreOptions> = {},
  clock: Clock = new SystemClock(),
): ZookeeperWorkerStore {
  return new ZookeeperWorkerStore(session, layout, { name: NAME, zookeeper: 'zk1:2181', ...more }, clock);
}

/** Removes a node with its descendants, as an operator could, while sessions continue. */
export async function removeTree(session: ZookeeperSession, path: string): Promise<void> {
  const node = await session.getData(path);
  if (node === undefined) return;
  const names = await session.children(path);
  await Promise.all(names.map((name) => removeTree(session, `${path}/${name}`)));
  try {
    await session.remove(path, node.version);
  } catch (error) {
    if (!isFault(error, 'invalid')) throw error;
    // A server was listed in the meantime.
    await removeTree(session, path);
  }
}
