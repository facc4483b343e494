import type { BuiltServer, BuiltServers } from '../servers/built-server';
import { freePorts } from '../free-port';
import { type KubernetesObject, only, type Probe, type Variable, type Workload } from '../manifests';

export interface Pod {
  readonly server: BuiltServer;
  readonly managementPort: number;
}

/** Processes with the settings of a Deployment's pods. Only what belongs to one pod differs: ports and directory. */
export class Pods {
  readonly spec: Workload['spec'];

  /**
   * @param secret values of the Secret by its keys
   * @param cluster variables that Kubernetes sets in each pod
   */
  constructor(
    objects: readonly KubernetesObject[],
    private readonly servers: BuiltServers,
    private readonly secret: Readonly<Record<string, string>>,
    private readonly cluster: NodeJS.ProcessEnv,
  ) {
    this.spec = only<Workload>('Deployment', objects).spec;
  }

  get readinessProbe(): Probe {
    return this.spec.template.spec.containers[0].readinessProbe;
  }

  /** Resolves when its container has started; like Kubernetes, it does not wait until the pod is ready. */
  async start(): Promise<Pod> {
    const [port, managementPort] = (await freePorts(2)) as [number, number];
    const { env } = this.spec.template.spec.containers[0];
    const directory = await this.servers.makeDirectory();
    const own = { LEAF_PORT: String(port), LEAF_MANAGEMENT_PORT: String(managementPort), LEAF_DATA_DIR: directory };
    const settings = Object.fromEntries(env.map((variable) => [variable.name, this.valueOf(variable)]));
    return { server: this.servers.spawn(directory, { ...this.cluster, ...settings, ...own }), managementPort };
  }

  private valueOf({ name, value, valueFrom }: Variable): string {
    if (value !== undefined) return value;
    const key = valueFrom?.secretKeyRef?.key;
    const found =
      key === undefined ? { 'status.podIP': '127.0.0.1' }[valueFrom?.fieldRef?.fieldPath ?? ''] : this.secret[key];
    if (found === undefined) throw new Error(`${name} has no value in this test`);
    return found;
  }
}
