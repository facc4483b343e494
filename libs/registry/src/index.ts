export { LocalWorkerRegistry } from './local/local-worker-registry';
export { StandInRegistry } from './offline/stand-in-registry';
export { RegistryModule } from './registry.module';
export type { RegistryModuleOptions } from './registry.module-definition';
export { SqlWorkerRegistry } from './sql/sql-worker-registry';
export { parseZookeeperAddress, parseZookeeperAuth } from './zookeeper/zookeeper-address';
