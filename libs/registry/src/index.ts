export { PropertiesWorkerFile } from './file/properties-worker-file';
export {
  createRegistry,
  DEFAULT_LEASES,
  leaseOf,
  type LeasedRegistryOptions,
  policyOf,
  registryFaults,
  registryFromSettings,
  registryRule,
  type RegistryOptions,
  STRATEGY_NAMES,
  type StrategyName,
  strategyOf,
} from './strategies/strategies';
export { localWorkersRule } from './strategies/local';
export { DirectoryWorkerStore } from './stores/directory/directory-store';
export type { RegistrySettings } from './strategies/strategy';
export { type EtcdAccess, parseEtcdAuth, parseEtcdEndpoints } from './stores/etcd/etcd-address';
export { parseZookeeperAddress, parseZookeeperAuth } from './stores/zookeeper/zookeeper-address';
