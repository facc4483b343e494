import type { KubernetesApi } from '../../../support/fakes/kubernetes-api';
import { startSecureApi } from '../../../support/fakes/secure-kubernetes-api';
import { type EtcdCluster, startCluster } from '../../../support/servers/etcd';
import { startEnsemble, type ZookeeperEnsemble } from '../../../support/servers/zookeeper';
import { requireZookeeperClient } from '../../../support/servers/zookeeper-client';
import type { RegistryKind } from './leaf-process';

/** Where the first three servers get their worker IDs: from ZooKeeper, or from etcd and from Leases of Kubernetes. */
export const COORDINATORS = ['zookeeper', 'etcd'] as const;
export type CoordinatorKind = (typeof COORDINATORS)[number];

const MEMBERS = 3;
const REGISTRIES: Readonly<Record<CoordinatorKind, readonly RegistryKind[]>> = {
  zookeeper: ['zk_normal', 'zk_normal', 'zk_recycle'],
  etcd: ['etcd', 'etcd', 'kubernetes'],
};

/** ZooKeeper, or etcd and the stand-in of an API server. */
export class Coordinator {
  private constructor(
    private readonly kind: CoordinatorKind,
    private readonly zookeeper?: ZookeeperEnsemble,
    private readonly cluster?: EtcdCluster,
    private readonly kubernetes?: KubernetesApi,
  ) {}

  static async start(kind: CoordinatorKind): Promise<Coordinator> {
    if (kind === 'zookeeper') {
      await requireZookeeperClient();
      return new Coordinator(kind, await startEnsemble(MEMBERS));
    }
    return new Coordinator(kind, undefined, await startCluster(MEMBERS), await startSecureApi());
  }

  /** Of the first three servers. */
  get registries(): readonly RegistryKind[] {
    return REGISTRIES[this.kind];
  }

  get ensemble(): ZookeeperEnsemble {
    return present(this.zookeeper);
  }

  get etcd(): EtcdCluster {
    return present(this.cluster);
  }

  get api(): KubernetesApi {
    return present(this.kubernetes);
  }

  /** The ports of the members that a server with this registry uses. */
  portsOf(registry: RegistryKind): readonly number[] {
    if (registry === 'kubernetes') return [this.api.port];
    if (registry === 'etcd') return this.etcd.servers.map(({ port }) => port);
    return registry.startsWith('zk_') ? this.ensemble.servers.map(({ port }) => port) : [];
  }

  /** The settings of a server that reaches the members at these ports. */
  settingsOf(registry: RegistryKind, ports: readonly number[]): NodeJS.ProcessEnv {
    const hosts = ports.map((port) => `127.0.0.1:${port}`);
    if (registry === 'etcd') return { LEAF_ETCD_ENDPOINTS: hosts.map((host) => `http://${host}`).join(',') };
    if (registry !== 'kubernetes') return registry.startsWith('zk_') ? { LEAF_ZOOKEEPER: hosts.join(',') } : {};
    return {
      KUBERNETES_SERVICE_HOST: '127.0.0.1',
      KUBERNETES_SERVICE_PORT: String(ports[0]),
      LEAF_KUBERNETES_DIR: this.api.directory,
    };
  }

  async stop(): Promise<void> {
    await Promise.all([this.zookeeper?.stop(), this.cluster?.stop(), this.kubernetes?.stop()]);
  }
}

function present<T>(service: T | undefined): T {
  if (service === undefined) throw new Error('This run has no such coordinator.');
  return service;
}
