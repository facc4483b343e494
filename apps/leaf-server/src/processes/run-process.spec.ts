import { formatInstance } from '@leaf-ids/core';
import { loadConfig } from '../config/leaf-config';
import { configOfProcess } from './run-process';

const LEAF_DATABASE_URL = 'mysql://leaf@db/leaf';
const ENV = {
  LEAF_PROCESSES: '3',
  LEAF_ADVERTISE_HOST: '10.0.0.7',
  LEAF_DATA_DIR: '/var/lib/leaf',
  LEAF_ZOOKEEPER: 'zk1:2181',
  LEAF_MAX_CONNECTIONS: '100',
  LEAF_MAX_IN_FLIGHT: '10',
};

function processes(env: NodeJS.ProcessEnv = {}): ReturnType<typeof loadConfig>[] {
  const config = loadConfig({ ...ENV, ...env });
  return Array.from({ length: config.processes }, (_, process) => configOfProcess(config, process));
}

describe('The processes of a server', () => {
  it('are each known by a name of their own, the first one by that of the server', () => {
    const instances = processes().map(({ instance, ids }) => [
      formatInstance(instance),
      formatInstance(ids.snowflake!.instance),
    ]);
    expect(instances).toEqual(
      ['10.0.0.7:8080', '10.0.0.7#1:8080', '10.0.0.7#2:8080'].map((instance) => [instance, instance]),
    );
  });

  it('have names that no server can be given', () => {
    expect(() => loadConfig({ ...ENV, LEAF_ADVERTISE_HOST: '10.0.0.7#1' })).toThrow(/LEAF_ADVERTISE_HOST/);
  });

  it('stay reachable at the address of the server', () => {
    const registries = processes({ LEAF_DATABASE_URL, LEAF_SNOWFLAKE_REGISTRY: 'zk_normal' }).map(
      ({ ids }) => ids.snowflake!.registry,
    );
    expect(registries).toHaveLength(3);
    for (const registry of registries) expect(registry).toMatchObject({ url: 'http://10.0.0.7:8080' });
  });

  it.each(['zk_normal', 'mysql'])(
    'have a worker file each with the registry %s, the first one where it was',
    (name) => {
      const LEAF_SNOWFLAKE_OFFLINE = 'local_file';
      const directories = processes({ LEAF_DATABASE_URL, LEAF_SNOWFLAKE_REGISTRY: name, LEAF_SNOWFLAKE_OFFLINE }).map(
        ({ ids }) => (ids.snowflake!.registry as { fileDirectory?: string }).fileDirectory,
      );
      expect(directories).toEqual([
        '/var/lib/leaf/leaf',
        '/var/lib/leaf/leaf/process-1',
        '/var/lib/leaf/leaf/process-2',
      ]);
      const refusing = processes({
        LEAF_DATABASE_URL,
        LEAF_SNOWFLAKE_REGISTRY: name,
        LEAF_SNOWFLAKE_OFFLINE: 'refuse',
      });
      for (const { ids } of refusing) expect(ids.snowflake!.registry).not.toHaveProperty('fileDirectory');
    },
  );

  it('take the worker IDs that follow that of the map', () => {
    const workers = '{"10.0.0.7:8080":6,"10.0.0.8:8080":9}';
    const maps = processes({ LEAF_LOCAL_WORKERS: workers }).map(
      ({ ids }) => (ids.snowflake!.registry as { workers?: object }).workers,
    );
    expect(maps).toEqual([
      { '10.0.0.7:8080': 6, '10.0.0.8:8080': 9 },
      { '10.0.0.7#1:8080': 7, '10.0.0.8:8080': 10 },
      { '10.0.0.7#2:8080': 8, '10.0.0.8:8080': 11 },
    ]);
  });

  it('keep their hot tags and the positions of tags apart', () => {
    expect(processes().map(({ ids }) => ids.segment!.hotTagsFile)).toEqual(
      ['hot-tags.json', 'hot-tags-1.json', 'hot-tags-2.json'].map((file) => `/var/lib/leaf/leaf/${file}`),
    );
    expect(processes().map(({ ids }) => ids.segment!.tagEndsFile)).toEqual(
      ['tag-ends.json', 'tag-ends-1.json', 'tag-ends-2.json'].map((file) => `/var/lib/leaf/leaf/${file}`),
    );
  });

  it('share what the server may take, none of it less', () => {
    expect(processes().map(({ http }) => [http.maxConnections, http.maxInFlight])).toEqual([
      [34, 4],
      [34, 4],
      [34, 4],
    ]);
  });

  it('are 1 to 128, or one for each core', () => {
    expect(loadConfig({}).processes).toBe(1);
    expect(loadConfig({ LEAF_PROCESSES: 'auto' }).processes).toBeGreaterThanOrEqual(1);
    for (const wrong of ['0', '129', '2.5', 'all', '-1']) {
      expect(() => loadConfig({ LEAF_PROCESSES: wrong })).toThrow('LEAF_PROCESSES must be auto or a whole number');
    }
  });

  it('must not overlap with those of other servers', () => {
    expect(() => processes({ LEAF_LOCAL_WORKERS: '{"10.0.0.7:8080":0,"10.0.0.8:8080":2}' })).toThrow(
      /LEAF_LOCAL_WORKERS gives 10.0.0.8:8080 worker ID 2/,
    );
  });
});
