export { LocalWorkerRegistry } from './local/local-worker-registry';
export { RegistryModule } from './registry.module';
export type { RegistryModuleOptions } from './registry.module-definition';
