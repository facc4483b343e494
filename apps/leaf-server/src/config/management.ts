import type { Environment } from './variables';

export interface ManagementAddress {
  readonly host: string;
  readonly port: number;
}

type Settings = Partial<Pick<Environment, 'LEAF_HOST' | 'LEAF_PORT' | 'LEAF_MANAGEMENT_HOST' | 'LEAF_MANAGEMENT_PORT'>>;

/** Address of the management port; undefined if operators use `LEAF_PORT`. */
export function managementOf(settings: Settings): ManagementAddress | undefined {
  const { LEAF_MANAGEMENT_PORT: port, LEAF_HOST = '', LEAF_MANAGEMENT_HOST: host = LEAF_HOST } = settings;
  return port === undefined ? undefined : { host, port };
}

export function managementFaults({ LEAF_MANAGEMENT_PORT: management, LEAF_PORT: port }: Settings): string[] {
  return management === port && port !== 0 ? ['LEAF_MANAGEMENT_PORT must differ from LEAF_PORT'] : [];
}
