import { processInstance } from '@leaf-ids/core/internal';
import { strategyOf } from '@leaf-ids/registry';
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
  const instance = process === 0 ? config.instance : processInstance(config.instance, process);
  const share = (limit: number): number => Math.ceil(limit / processes);
  return {
    ...config,
    process,
    instance,
    // One of them says it.
    warnings: process === 0 ? config.warnings : [],
    files: process === 0 ? config.files : [],
    http: { ...http, maxConnections: share(http.maxConnections), maxInFlight: share(http.maxInFlight) },
    ids: {
      ...(segment === undefined ? {} : { segment: { ...segment, ...hotTagsOf(segment, process) } }),
      ...(snowflake === undefined
        ? {}
        : {
            snowflake: {
              ...{ ...snowflake, instance },
              ...(process > 0 && { registry: strategyOf(snowflake.registry).ofProcess(config.instance, process) }),
            },
          }),
    },
  };
}

function hotTagsOf({ hotTagsFile }: { readonly hotTagsFile?: string }, process: number): { hotTagsFile?: string } {
  if (hotTagsFile === undefined || process === 0) return {};
  return { hotTagsFile: hotTagsFile.replace(/\.json$/, `-${process}.json`) };
}
