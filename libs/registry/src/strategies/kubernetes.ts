import { accepted, both, object, required, rule, type Rules, text, whole } from '@leaf-ids/core/internal';
import { PoolPolicy } from '../policies/pool-policy';
import { KubernetesClient } from '../stores/kubernetes/kubernetes-client';
import { KubernetesWorkerStore } from '../stores/kubernetes/kubernetes-store';
import type { Strategy } from './strategy';

export interface KubernetesAccess {
  /** URL of the API server: `https://10.96.0.1:443`. */
  readonly server: string;
  /** Directory with the files `token`, `ca.crt` and `namespace`; by default where Kubernetes mounts them into a pod. */
  readonly directory?: string;
}

/** A pool of worker IDs in Leases of Kubernetes: each pod takes a free one. */
export interface KubernetesOptions {
  readonly strategy: 'kubernetes';
  readonly kubernetes: KubernetesAccess;
  /** Name of the service, part of the names of the Leases. */
  readonly name: string;
  /** The worker ID to take if it is free: the number of the pod in its StatefulSet. */
  readonly preferredWorkerId?: number;
}

const MOUNTED = '/var/run/secrets/kubernetes.io/serviceaccount';
/** Time limit of one call, in milliseconds: three attempts take less than a report interval. */
const CALL_MS = 3000;
/** A label has at most 63 characters, and a name has no capitals. */
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

const ACCESS: Rules<KubernetesAccess> = {
  server: required(
    both(
      text,
      accepted((server: string) => new URL(server)),
    ),
    'must be set for the registry kubernetes',
  ),
  directory: text,
};

const RULES: Rules<KubernetesOptions> = {
  strategy: text,
  kubernetes: required(object(ACCESS)),
  name: required(rule('1 to 63 lower-case letters, digits or "-"', (name) => NAME.test(String(name)))),
  preferredWorkerId: whole(0),
};

export const kubernetes: Strategy<KubernetesOptions> = {
  policy: 'pool',
  // A hundred pods write ten times a second to the API server, which serves a whole cluster.
  lease: { reportMs: 10_000, leaseTtlMs: 60_000 },
  rule: object(RULES),
  create: ({ kubernetes: { server, directory = MOUNTED }, name, preferredWorkerId }, { clock }) => {
    const client = new KubernetesClient({ server: new URL(server), directory, callMs: CALL_MS }, clock);
    return { policy: new PoolPolicy(preferredWorkerId), store: new KubernetesWorkerStore(client, name, clock) };
  },
  fromSettings: ({ kubernetes: { preferredWorkerId, ...access }, name }) => ({
    ...{ strategy: 'kubernetes', kubernetes: access as KubernetesAccess, name },
    ...(preferredWorkerId === undefined ? {} : { preferredWorkerId }),
  }),
  // A preferred worker ID belongs to one process.
  ofProcess: ({ preferredWorkerId: _, ...options }) => options,
};
