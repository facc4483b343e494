import { randomBytes } from 'node:crypto';
import { type FactoryProvider, Logger } from '@nestjs/common';
import { SystemClock, WorkerRegistry } from '@leaf-ids/core';
import { systemRandom } from '@leaf-ids/core/internal';
import { closeProblem } from '@leaf-ids/persistence';
import { MODULE_OPTIONS_TOKEN, type RegistryModuleOptions } from './registry.module-definition';
import { limitsOf, strategyOf } from './strategies/strategies';

/** Creates a registry, which connects when it is first used. */
export function createRegistry({ registry, ...options }: RegistryModuleOptions): WorkerRegistry {
  const logger = new Logger('Registry');
  const surroundings = { clock: new SystemClock(), random: systemRandom };
  const strategy = strategyOf(registry);
  const { remembers, ...parts } = strategy.create({
    ...surroundings,
    onCloseProblem: closeProblem(logger),
    onCreated: (database) =>
      logger.log(`Created the tables of the worker registry in ${database}; no worker ID was held there before.`),
  });
  const newId = (): string => randomBytes(8).toString('hex');
  const known = { name: registry.strategy, remembers, limits: limitsOf(strategy) };
  return new WorkerRegistry({ ...parts, ...surroundings, newId }, { ...known, ...options });
}

export const registryProvider: FactoryProvider<WorkerRegistry | undefined> = {
  provide: WorkerRegistry,
  useFactory: (options?: RegistryModuleOptions) => options && createRegistry(options),
  inject: [MODULE_OPTIONS_TOKEN],
};
