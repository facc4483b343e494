import { join } from 'node:path';
import { formatInstance, type Instance } from '@leaf/core';
import type { RegistryModuleOptions } from '@leaf/registry';
import type { LeafConfig } from '../config/leaf-config';

/**
 * The settings of one process of a server. Each is a holder of a worker ID of its own: the registry knows the first one
 * as the server, `10.0.0.7:8080`, and the others by a name that no server can have, `10.0.0.7#1:8080`. What a process
 * keeps in the data directory has a place of its own.
 *
 * @param process from 0
 */
export function configOfProcess(config: LeafConfig, process: number): LeafConfig {
  const { segment, snowflake } = config.ids;
  const { processes, http } = config;
  const instance = process === 0 ? config.instance : named(config.instance, process);
  const share = (limit: number): number => Math.ceil(limit / processes);
  return {
    ...config,
    process,
    instance,
    // One of them says it.
    warnings: process === 0 ? config.warnings : [],
    http: { ...http, maxConnections: share(http.maxConnections), maxInFlight: share(http.maxInFlight), dealt: true },
    ids: {
      ...(segment === undefined ? {} : { segment: { ...segment, ...hotTagsOf(segment, process) } }),
      ...(snowflake === undefined
        ? {}
        : {
            snowflake: { ...snowflake, instance, registry: registryOf(snowflake.registry, config.instance, process) },
          }),
    },
  };
}

function named({ ip, port }: Instance, process: number): Instance {
  return { ip: `${ip}#${process}`, port };
}

function hotTagsOf({ hotTagsFile }: { readonly hotTagsFile?: string }, process: number): { hotTagsFile?: string } {
  if (hotTagsFile === undefined || process === 0) return {};
  return { hotTagsFile: hotTagsFile.replace(/\.json$/, `-${process}.json`) };
}

function registryOf(registry: RegistryModuleOptions, server: Instance, process: number): RegistryModuleOptions {
  if (process === 0) return registry;
  switch (registry.strategy) {
    case 'local':
      return { ...registry, workers: workersOf(registry.workers, server, process) };
    case 'mysql':
    case 'zk_normal':
      return registry.standInDirectory === undefined
        ? registry
        : { ...registry, standInDirectory: join(registry.standInDirectory, `process-${process}`) };
    case 'zk_recycle':
    case 'custom':
      return registry;
  }
}

/** The worker IDs after those of the map. */
function workersOf(
  workers: Readonly<Record<string, number>>,
  server: Instance,
  process: number,
): Record<string, number> {
  const own = formatInstance(server);
  return Object.fromEntries(
    Object.entries(workers).map(([instance, workerId]) => [
      instance === own ? formatInstance(named(server, process)) : instance,
      workerId + process,
    ]),
  );
}
