export { PropertiesWorkerFile } from './file/properties-worker-file';
export { createRegistry, type LeasedRegistryOptions } from './create-registry';
export {
  DEFAULT_LEASES,
  defaultLease,
  leaseOf,
  limitsOf,
  policyOf,
  registryFromSettings,
  registryRule,
  type RegistryOptions,
  STRATEGY_NAMES,
  type StrategyName,
  strategyOf,
  workerIdFaults,
} from './strategies/strategies';
export { haveOwnWorkers } from './strategies/local';
export { DirectoryWorkerStore } from './stores/directory/directory-store';
export type { RegistrySettings } from './strategies/strategy';
export { type EtcdAccess, parseEtcdAuth, parseEtcdEndpoints } from './stores/etcd/etcd-address';
export { parseZookeeperAddress, parseZookeeperAuth } from './stores/zookeeper/zookeeper-address';
