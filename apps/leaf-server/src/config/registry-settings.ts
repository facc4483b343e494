import { join, resolve } from 'node:path';
import { formatInstance } from '@leaf-ids/core';
import { type EtcdAccess, registryFromSettings, type RegistryOptions, type RegistrySettings } from '@leaf-ids/registry';
import type { Resolved } from './variables';

/** The options of the worker registry. */
export function registryOf(values: Resolved): RegistryOptions {
  const { LEAF_NAME: name, LEAF_ZOOKEEPER: address = '', LEAF_ZOOKEEPER_AUTH: auth } = values;
  // The advertised port may be only a name, like that of the Java service; requests for the time need the real one.
  const instance = { ip: values.LEAF_ADVERTISE_HOST, port: values.LEAF_PORT || values.LEAF_ADVERTISE_PORT };
  return registryFromSettings(values.LEAF_SNOWFLAKE_REGISTRY, {
    name,
    directory: join(resolve(values.LEAF_DATA_DIR), name),
    fileFallback: values.LEAF_SNOWFLAKE_OFFLINE === 'local_file',
    databaseUrl: values.LEAF_DATABASE_URL,
    migrate: values.LEAF_DATABASE_MIGRATE,
    accept: values.LEAF_DATABASE_ACCEPT,
    localWorkers: values.LEAF_LOCAL_WORKERS,
    zookeeper: { address, ...(auth === undefined ? {} : { auth }) },
    etcd: etcdOf(values),
    kubernetes: kubernetesOf(values),
    url: `http://${formatInstance(instance)}`,
  });
}

function etcdOf(values: Resolved): EtcdAccess {
  const { LEAF_ETCD_ENDPOINTS: endpoints = '', LEAF_ETCD_AUTH: auth, LEAF_ETCD_TLS_CA_FILE: caFile } = values;
  const { LEAF_ETCD_TLS_CERT_FILE: certFile, LEAF_ETCD_TLS_KEY_FILE: keyFile } = values;
  return {
    endpoints,
    ...(auth && { auth }),
    ...(caFile && { caFile }),
    ...(certFile && keyFile && { certFile, keyFile }),
  };
}

function kubernetesOf(values: Resolved): RegistrySettings['kubernetes'] {
  const { KUBERNETES_SERVICE_HOST: ip = '', KUBERNETES_SERVICE_PORT: port, LEAF_KUBERNETES_DIR: directory } = values;
  const { LEAF_KUBERNETES_POD_INDEX: preferredWorkerId } = values;
  const server = `https://${formatInstance({ ip, port })}`;
  return { server, ...(directory && { directory }), ...(preferredWorkerId === undefined ? {} : { preferredWorkerId }) };
}

/**
 * What is wrong with a map of workers for servers of so many processes each: the first process of a server has the
 * worker ID of its entry, the others those that follow.
 */
export function localWorkerFaults(
  workers: Readonly<Record<string, number>>,
  processes: number,
  maxWorkerId: number,
): string[] {
  const entries = Object.entries(workers).sort(([, a], [, b]) => a - b);
  const highest = (entries.at(-1)?.[1] ?? 0) + processes - 1;
  const faults: string[] = [];
  if (highest > maxWorkerId) {
    const ids = processes === 1 ? `worker ID ${highest}` : `worker IDs up to ${highest} with ${processes} processes`;
    faults.push(`LEAF_LOCAL_WORKERS gives ${ids}, but the bits of LEAF_SNOWFLAKE_BITS hold 0 to ${maxWorkerId}`);
  }
  const index = entries.findIndex(([, id], at) => id < (entries[at - 1]?.[1] ?? -Infinity) + processes);
  const [before, after] = [entries[index - 1], entries[index]];
  if (before !== undefined && after !== undefined) {
    const apart = Object.fromEntries(entries.map(([instance], at) => [instance, at * processes]));
    faults.push(
      `LEAF_LOCAL_WORKERS gives ${after[0]} worker ID ${after[1]}, which a process of ${before[0]} uses: LEAF_PROCESSES=${processes} takes ${before[1]} to ${before[1] + processes - 1}. Leave a range for the processes of each server, for example ${JSON.stringify(apart)}`,
    );
  }
  return faults;
}
