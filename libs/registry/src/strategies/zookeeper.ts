import { accepted, both, milliseconds, object, required, type Rules, text } from '@leaf-ids/core/internal';
import { FixedPolicy } from '../policies/fixed-policy';
import { PoolPolicy } from '../policies/pool-policy';
import { parseZookeeperAddress, parseZookeeperAuth } from '../stores/zookeeper/zookeeper-address';
import { ZookeeperSession } from '../stores/zookeeper/zookeeper-session';
import { type NodeLayout, PLAIN, SEQUENTIAL } from '../stores/zookeeper/node-layout';
import { ZookeeperWorkerStore } from '../stores/zookeeper/zookeeper-store';
import { FILE_RULES, type FileOptions, fileOf, ofProcess } from './file-options';
import type { RegistrySettings, Strategy, StrategyContext } from './strategy';

export interface ZookeeperAccess {
  /** `host:port,host:port[/chroot]`. */
  readonly address: string;
  /** `digest:user:password`. */
  readonly auth?: string;
  /** Session timeout without a connection, in milliseconds; 10,000 by default. */
  readonly sessionMs?: number;
}

interface ZookeeperOptions {
  readonly zookeeper: ZookeeperAccess;
  /** Name of the service, part of the paths. */
  readonly name: string;
  /** URL at which other servers request our time: `http://10.0.0.7:8080`. If omitted, they do not. */
  readonly url?: string;
}

/** A node for each `ip:port`, in the format of the Java service. */
export type ZkNormalOptions = { readonly strategy: 'zk_normal' } & ZookeeperOptions & FileOptions;

/** A pool of worker IDs in ZooKeeper: each server takes a free one. */
export type ZkRecycleOptions = { readonly strategy: 'zk_recycle' } & ZookeeperOptions;

/** Together less than half a lease TTL of 10 s, so that there is time for another attempt after a failed extension. */
const LIMITS = { connectMs: 2000, callMs: 2000 };
/** Session timeout that is requested by default, in milliseconds. */
const DEFAULT_SESSION_MS = 10_000;

const ACCESS: Rules<ZookeeperAccess> = {
  address: required(both(text, accepted(parseZookeeperAddress)), 'must be set for the registries of ZooKeeper'),
  auth: both(text, accepted(parseZookeeperAuth)),
  sessionMs: milliseconds(1),
};

const RULES: Rules<ZkRecycleOptions> = {
  strategy: text,
  zookeeper: required(object(ACCESS)),
  name: required(text),
  url: text,
};
const NORMAL_RULES: Rules<ZkNormalOptions> = { ...RULES, ...FILE_RULES };

export const zkNormal: Strategy<ZkNormalOptions> = {
  policy: 'fixed',
  rule: object(NORMAL_RULES),
  create: (options, context) => ({
    ...{ policy: new FixedPolicy(), store: storeOf(options, SEQUENTIAL, context) },
    ...fileOf(options),
  }),
  fromSettings: (settings) => ({
    ...{ strategy: 'zk_normal', ...accessOf(settings) },
    ...(settings.fileFallback ? { fileDirectory: settings.directory } : {}),
  }),
  ofProcess,
};

export const zkRecycle: Strategy<ZkRecycleOptions> = {
  policy: 'pool',
  rule: object(RULES),
  create: (options, context) => ({ policy: new PoolPolicy(), store: storeOf(options, PLAIN, context) }),
  fromSettings: (settings) => ({ strategy: 'zk_recycle', ...accessOf(settings) }),
  ofProcess: (options) => options,
};

function storeOf(
  { zookeeper, name, url }: ZookeeperOptions,
  nodes: NodeLayout,
  { clock, random }: StrategyContext,
): ZookeeperWorkerStore {
  const { address, auth, sessionMs = DEFAULT_SESSION_MS } = zookeeper;
  const parsed = parseZookeeperAddress(address);
  const options = {
    ...{ ...LIMITS, address: parsed, sessionMs },
    ...(auth === undefined ? {} : { auth: parseZookeeperAuth(auth) }),
  };
  const session = new ZookeeperSession(options, clock, random);
  return new ZookeeperWorkerStore(session, nodes, { name, zookeeper: parsed.description, ...(url && { url }) }, clock);
}

function accessOf({ name, zookeeper, url }: RegistrySettings): ZookeeperOptions {
  return { name, zookeeper: zookeeper as ZookeeperAccess, url };
}
