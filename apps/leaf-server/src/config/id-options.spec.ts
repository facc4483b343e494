import { loadConfig } from './leaf-config';

const SHARED = { LEAF_DATABASE_URL: 'mysql://leaf@db/leaf', LEAF_ADVERTISE_HOST: '10.0.0.7' };
const ETCD = { ...SHARED, LEAF_SNOWFLAKE_REGISTRY: 'etcd', LEAF_ETCD_ENDPOINTS: 'https://e1:2379,https://e2' };
const KUBERNETES = { ...SHARED, LEAF_SNOWFLAKE_REGISTRY: 'kubernetes', KUBERNETES_SERVICE_HOST: '10.96.0.1' };
const MYSQL = { ...SHARED, LEAF_SNOWFLAKE_REGISTRY: 'mysql' };

function snowflakeOf(env: NodeJS.ProcessEnv): unknown {
  return loadConfig(env).ids.snowflake;
}

describe('the settings of the registry', () => {
  it('etcd are endpoints, credentials and certificates', () => {
    const lease = { reportMs: 3000, leaseTtlMs: 3_600_000 };
    expect(snowflakeOf(ETCD)).toMatchObject({
      ...{ ...lease, registry: { strategy: 'etcd', etcd: { endpoints: 'https://e1:2379,https://e2' }, name: 'leaf' } },
    });
    const files = { LEAF_ETCD_TLS_CA_FILE: '/ca', LEAF_ETCD_TLS_CERT_FILE: '/cert', LEAF_ETCD_TLS_KEY_FILE: '/key' };
    expect(snowflakeOf({ ...ETCD, ...files, LEAF_ETCD_AUTH: 'leaf:a:b' })).toMatchObject({
      registry: { etcd: { auth: 'leaf:a:b', caFile: '/ca', certFile: '/cert', keyFile: '/key' } },
    });
  });

  it('kubernetes are those of the pod, with a lease of their own', () => {
    expect(snowflakeOf(KUBERNETES)).toMatchObject({
      ...{ reportMs: 10_000, leaseTtlMs: 60_000 },
      registry: { strategy: 'kubernetes', kubernetes: { server: 'https://10.96.0.1:443' }, name: 'leaf' },
    });
    const more = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443', LEAF_KUBERNETES_DIR: '/etc/k' };
    const times = { LEAF_SNOWFLAKE_REPORT_MS: '1000', LEAF_SNOWFLAKE_LEASE_TTL_MS: '20000' };
    expect(snowflakeOf({ ...KUBERNETES, ...more, ...times, LEAF_KUBERNETES_POD_INDEX: '2' })).toMatchObject({
      ...{ reportMs: 1000, leaseTtlMs: 20_000 },
      registry: { kubernetes: { server: 'https://[fd00::1]:6443', directory: '/etc/k' }, preferredWorkerId: 2 },
    });
    expect(snowflakeOf({ ...KUBERNETES, LEAF_KUBERNETES_POD_INDEX: '' })).not.toHaveProperty(
      'registry.preferredWorkerId',
    );
  });

  it.each([
    [ETCD, 10_000, 86_400_000],
    [KUBERNETES, 20_000, 86_400_000],
    [{ ...MYSQL, LEAF_SNOWFLAKE_REPORT_MS: '100' }, 5100, 3_600_000],
    [{ LEAF_SNOWFLAKE_REGISTRY: 'local', LEAF_SNOWFLAKE_REPORT_MS: '100' }, 1000, 3_600_000],
  ])('bound the lease TTL as the registry needs: %j', (env, low, high) => {
    const withTtl = (ttl: number): unknown => snowflakeOf({ ...env, LEAF_SNOWFLAKE_LEASE_TTL_MS: String(ttl) });
    for (const leaseTtlMs of [low, high]) expect(withTtl(leaseTtlMs)).toMatchObject({ leaseTtlMs });
    for (const beyond of [low - 1, high + 1]) expect(() => withTtl(beyond)).toThrow(/_LEASE_TTL_MS .*must be/);
  });

  it('have the lease TTL also by its earlier name, which has no effect on a pool, as before', () => {
    const earlier = { LEAF_SNOWFLAKE_HORIZON_MS: '20000' };
    expect(snowflakeOf({ ...MYSQL, ...earlier })).toMatchObject({ leaseTtlMs: 20_000 });
    expect(snowflakeOf({ ...ETCD, ...earlier })).toMatchObject({ leaseTtlMs: 3_600_000 });
    expect(snowflakeOf({ ...KUBERNETES, LEAF_SNOWFLAKE_HORIZON_MS: '1000' })).toMatchObject({ leaseTtlMs: 60_000 });
    expect(loadConfig({ ...ETCD, ...earlier }).warnings.join()).toContain(
      'HORIZON_MS has no effect with the registry etcd',
    );
    const off = { ...MYSQL, LEAF_SNOWFLAKE_ENABLED: 'false', LEAF_SNOWFLAKE_LEASE_TTL_MS: '7200000' };
    expect(snowflakeOf(off)).toBeUndefined();
  });

  it.each([
    [{ ...ETCD, LEAF_ETCD_ENDPOINTS: undefined }, 'LEAF_ETCD_ENDPOINTS must be set for the registry etcd'],
    [{ ...ETCD, LEAF_ETCD_ENDPOINTS: '' }, 'LEAF_ETCD_ENDPOINTS is empty'],
    [{ ...ETCD, LEAF_ETCD_ENDPOINTS: 'e1:2379' }, 'LEAF_ETCD_ENDPOINTS must be https://host:port'],
    [{ ...ETCD, LEAF_ETCD_ENDPOINTS: 'https://a:b@e1' }, 'LEAF_ETCD_ENDPOINTS must be https://host:port'],
    [{ ...ETCD, LEAF_ETCD_ENDPOINTS: 'https://e1/v3' }, 'LEAF_ETCD_ENDPOINTS must be https://host:port'],
    [{ ...ETCD, LEAF_ETCD_AUTH: 'secret' }, 'LEAF_ETCD_AUTH must be user:password'],
    [
      { ...ETCD, LEAF_ETCD_TLS_CERT_FILE: '/cert' },
      'LEAF_ETCD_TLS_KEY_FILE must be set: a client certificate and its key need each other',
    ],
    [{ ...ETCD, LEAF_DATABASE_URL: 'sqlite:/a' }, 'an SQLite file belongs to one host, and the registry is shared'],
    [{ ...KUBERNETES, KUBERNETES_SERVICE_HOST: undefined }, 'KUBERNETES_SERVICE_HOST must be set'],
    [
      { ...KUBERNETES, LEAF_SNOWFLAKE_REPORT_MS: '40000' },
      'LEAF_SNOWFLAKE_LEASE_TTL_MS (60000) must be at least twice',
    ],
    [{ ...KUBERNETES, LEAF_SNOWFLAKE_REPORT_MS: '10001' }, 'LEAF_SNOWFLAKE_REPORT_MS (10001) must be at most 10000'],
    [{ ...ETCD, LEAF_SNOWFLAKE_REPORT_MS: '60000' }, 'LEAF_SNOWFLAKE_REPORT_MS (60000) must be at most 3000'],
    [{ ...ETCD, LEAF_SNOWFLAKE_MAX_CLOCK_OFFSET_MS: '60000' }, 'OFFSET_MS (60000) must be at most 5000'],
    [{ ...MYSQL, LEAF_SNOWFLAKE_LEASE_TTL_MS: '6000' }, 'LEAF_SNOWFLAKE_LEASE_TTL_MS (6000) must be at least 8000'],
    [{ ...ETCD, LEAF_SNOWFLAKE_HORIZON_MS: '20000', LEAF_SNOWFLAKE_LEASE_TTL_MS: '30000' }, 'different values'],
    [{ ...KUBERNETES, LEAF_NAME: 'A_b' }, 'LEAF_NAME must be 1 to 63 lower-case letters, digits or "-"'],
    [{ LEAF_SNOWFLAKE_BITS: '41,11,12' }, 'LEAF_SNOWFLAKE_BITS and LEAF_SNOWFLAKE_EPOCH cannot be used: Invalid bit'],
    [
      { LEAF_DATABASE_URLS: '{"a":"sqlite:/a"}', LEAF_DATABASE_TAGS: '{"order":"c"}' },
      'LEAF_DATABASE_TAGS names "c", which is not one of the databases a',
    ],
  ])('are refused as %j', (env, message) => {
    expect(() => loadConfig(env)).toThrow(expect.objectContaining({ message: expect.stringContaining(message) }));
    expect(() => loadConfig(env)).not.toThrow(/:secret|not "secret"|a:b@/);
  });
});
