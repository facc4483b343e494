import { accepted, both, milliseconds, object, pathOf, required, type Rules, text } from '@leaf-ids/core/internal';
import { PoolPolicy } from '../policies/pool-policy';
import { type EtcdAccess, parseEtcdAuth, parseEtcdEndpoints } from '../stores/etcd/etcd-address';
import { EtcdClient } from '../stores/etcd/etcd-client';
import { EtcdWorkerStore } from '../stores/etcd/etcd-store';
import type { Strategy } from './strategy';

/** A pool of worker IDs in etcd: each server takes a free one. */
export interface EtcdOptions {
  readonly strategy: 'etcd';
  readonly etcd: EtcdAccess;
  /** Name of the service, part of the keys. */
  readonly name: string;
}

/** Time limit of one call, in milliseconds: short enough to try another endpoint within a report interval. */
const DEFAULT_TIMEOUT_MS = 1500;

const ACCESS: Rules<EtcdAccess> = {
  endpoints: required(both(text, accepted(parseEtcdEndpoints)), 'must be set for the registry etcd'),
  auth: both(text, accepted(parseEtcdAuth)),
  timeoutMs: milliseconds(1),
  ...{ caFile: text, certFile: text, keyFile: text },
};

const accessRule = both(object(ACCESS), (value, path) => {
  const { certFile, keyFile } = value as EtcdAccess;
  if ((certFile === undefined) === (keyFile === undefined)) return [];
  const missing = pathOf(path, certFile === undefined ? 'certFile' : 'keyFile');
  return [{ path: missing, fault: 'must be set: a client certificate and its key need each other' }];
});

const RULES: Rules<EtcdOptions> = {
  strategy: text,
  etcd: required(accessRule),
  name: required(text),
};

export const etcd: Strategy<EtcdOptions> = {
  policy: 'pool',
  rule: object(RULES),
  create: ({ etcd: access, name }, { clock, random }) => {
    const { endpoints, auth, timeoutMs: callMs = DEFAULT_TIMEOUT_MS, ...certificates } = access;
    const credentials = auth === undefined ? {} : { credentials: parseEtcdAuth(auth) };
    const options = { endpoints: parseEtcdEndpoints(endpoints), ...credentials, certificates, callMs };
    const store = new EtcdWorkerStore(new EtcdClient(options, clock, random), name);
    return { policy: new PoolPolicy(), store };
  },
  fromSettings: (settings) => ({ strategy: 'etcd', etcd: settings.etcd as EtcdAccess, name: settings.name }),
  ofProcess: (options) => options,
};
