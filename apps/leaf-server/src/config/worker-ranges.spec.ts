import { loadConfig } from './leaf-config';

const SHARED = { LEAF_DATABASE_URL: 'mysql://leaf@db/leaf', LEAF_ADVERTISE_HOST: '10.0.0.7' };
const BITS = { LEAF_SNOWFLAKE_BITS: '41,5+5,12' };
const LOCAL = { LEAF_SNOWFLAKE_REGISTRY: 'local', LEAF_LOCAL_WORKERS: '{"a:1":96,"b:1":98}' };

function snowflakeOf(env: NodeJS.ProcessEnv): unknown {
  return loadConfig({ ...SHARED, ...env }).ids.snowflake;
}

describe('The range of worker IDs', () => {
  it('is that of the setting, or of the data center', () => {
    expect(snowflakeOf({})).not.toHaveProperty('workers');
    expect(snowflakeOf({ LEAF_SNOWFLAKE_WORKERS: '96-127' })).toMatchObject({ workers: '96-127' });
    expect(snowflakeOf({ ...BITS, LEAF_SNOWFLAKE_DATACENTER: '3' })).toMatchObject({
      ...{ datacenter: 3, layout: { timeBits: 41, workerBits: 10, sequenceBits: 12, datacenterBits: 5 } },
    });
    expect(snowflakeOf({ ...BITS, LEAF_SNOWFLAKE_DATACENTER: '3', LEAF_SNOWFLAKE_WORKERS: '96-127' })).toBeDefined();
    expect(snowflakeOf({ ...LOCAL, LEAF_SNOWFLAKE_WORKERS: '96-99', LEAF_PROCESSES: '2' })).toBeDefined();
    expect(snowflakeOf({ LEAF_SNOWFLAKE_WORKERS: '96-97', LEAF_PROCESSES: '2' })).toBeDefined();
  });

  it('has the preferred worker ID of a pod: the number of the pod counts from its start', () => {
    const pod = { LEAF_SNOWFLAKE_REGISTRY: 'kubernetes', KUBERNETES_SERVICE_HOST: '10.96.0.1' };
    const preferred = (env: NodeJS.ProcessEnv): unknown =>
      snowflakeOf({ ...pod, LEAF_KUBERNETES_POD_INDEX: '2', ...env });
    expect(preferred({ LEAF_SNOWFLAKE_WORKERS: '96-127' })).toMatchObject({ registry: { preferredWorkerId: 98 } });
    expect(preferred({ ...BITS, LEAF_SNOWFLAKE_DATACENTER: '1' })).toMatchObject({
      registry: { preferredWorkerId: 34 },
    });
  });

  it.each<[NodeJS.ProcessEnv, string]>([
    [{ LEAF_SNOWFLAKE_WORKERS: '' }, 'LEAF_SNOWFLAKE_WORKERS is empty'],
    [{ LEAF_SNOWFLAKE_DATACENTER: '' }, 'LEAF_SNOWFLAKE_DATACENTER is empty'],
    [{ LEAF_SNOWFLAKE_WORKERS: '96..127' }, 'must be the first and the last worker ID, for example 96-127'],
    [{ LEAF_SNOWFLAKE_WORKERS: '127-96' }, 'must be the first and the last worker ID, for example 96-127'],
    [
      { LEAF_SNOWFLAKE_WORKERS: '96-1024' },
      'LEAF_SNOWFLAKE_WORKERS must be in the worker IDs of the layout, 0 to 1023, not 96-1024',
    ],
    [{ LEAF_SNOWFLAKE_BITS: '41,5+5+2,12' }, 'LEAF_SNOWFLAKE_BITS must be three bit counts'],
    [{ LEAF_SNOWFLAKE_BITS: '41,10+0,12' }, 'data center bits must be a whole number from 0 to 9, not 10'],
    [{ LEAF_SNOWFLAKE_BITS: '41,8+8,12', LEAF_SNOWFLAKE_DATACENTER: '3' }, 'the bits add up to 69'],
    [
      { LEAF_SNOWFLAKE_DATACENTER: '3' },
      'LEAF_SNOWFLAKE_DATACENTER needs a layout with data center bits, such as 41,5+5,12',
    ],
    [
      { ...BITS, LEAF_SNOWFLAKE_DATACENTER: '32' },
      'LEAF_SNOWFLAKE_DATACENTER must be a whole number from 0 to 31, not 32',
    ],
    [
      { ...BITS, LEAF_SNOWFLAKE_DATACENTER: '3', LEAF_SNOWFLAKE_WORKERS: '96-128' },
      'LEAF_SNOWFLAKE_WORKERS must be 96-127, the worker IDs of data center 3, or be omitted, not 96-128',
    ],
    [
      { LEAF_SNOWFLAKE_REGISTRY: 'mysql', LEAF_SNOWFLAKE_WORKERS: '96-127' },
      'LEAF_SNOWFLAKE_WORKERS cannot be used with the registry mysql, which numbers its servers itself',
    ],
    [
      { ...BITS, LEAF_SNOWFLAKE_REGISTRY: 'zk_normal', LEAF_ZOOKEEPER: 'zk:2181', LEAF_SNOWFLAKE_DATACENTER: '3' },
      'LEAF_SNOWFLAKE_DATACENTER cannot be used with the registry zk_normal, which numbers its servers itself',
    ],
    [
      { ...LOCAL, LEAF_SNOWFLAKE_WORKERS: '97-99' },
      'LEAF_LOCAL_WORKERS["a:1"] must be from 97 to 99, the worker IDs of this server, not 96',
    ],
    [
      { ...LOCAL, LEAF_SNOWFLAKE_WORKERS: '96-98', LEAF_PROCESSES: '2' },
      'LEAF_LOCAL_WORKERS gives worker IDs up to 99 with 2 processes, but this server can have only 96 to 98',
    ],
    [
      { LEAF_SNOWFLAKE_WORKERS: '96-97', LEAF_PROCESSES: '3' },
      'LEAF_PROCESSES must be at most 2, not 3: this server can have only the worker IDs 96 to 97',
    ],
    [
      { LEAF_SNOWFLAKE_BITS: '41,5+1,16', LEAF_SNOWFLAKE_DATACENTER: '3', LEAF_PROCESSES: '3' },
      'LEAF_PROCESSES must be at most 2, not 3: this server can have only the worker IDs 6 to 7',
    ],
    [
      { LEAF_SNOWFLAKE_BITS: '41,1,21', LEAF_PROCESSES: '3' },
      'LEAF_PROCESSES must be at most 2, not 3: this server can have only the worker IDs 0 to 1',
    ],
    [
      { LEAF_SNOWFLAKE_BITS: '41,1,21', LEAF_SNOWFLAKE_REGISTRY: 'mysql', LEAF_PROCESSES: '3' },
      'LEAF_PROCESSES must be at most 2, not 3',
    ],
    [
      { ...LOCAL, LEAF_SNOWFLAKE_WORKERS: '96-98', LEAF_PROCESSES: '4' },
      'LEAF_LOCAL_WORKERS gives worker IDs up to 101 with 4 processes',
    ],
  ])('is refused as %j', (env, message) => {
    expect(() => snowflakeOf(env)).toThrow(
      expect.objectContaining({ code: 'LEAF_CONFIG_INVALID', message: expect.stringContaining(message) as string }),
    );
  });
});
