import { resolve } from 'node:path';
import { LeafError } from '@leaf-ids/core';
import { loadConfig } from './leaf-config';
import { VARIABLES } from './variables';

function fault(env: Record<string, string>): string {
  try {
    loadConfig(env);
  } catch (error) {
    expect(error).toMatchObject({ code: 'LEAF_CONFIG_INVALID' });
    return (error as LeafError).message;
  }
  throw new Error('no fault');
}

describe('loadConfig', () => {
  it('works without any variable', () => {
    const config = loadConfig({}, false);
    expect(config).toMatchObject({ port: 8080, drainMs: 5000, warnings: [] });
    expect(config.log).toEqual({ level: 'info', format: 'json', time: 'iso' });
    expect(config.ids.segment).toEqual({
      database: {
        url: `sqlite:${resolve('data/leaf.sqlite')}`,
        migrate: true,
        firstTag: 'leaf-segment-test',
        accept: [],
        failoverGapSteps: 10,
        numbers: { sync: false },
      },
      waitMs: 1000,
      refreshMs: 60_000,
      prefetchRatio: 0.1,
      durationMs: 900_000,
      maxStep: 1_000_000,
      hotTagsFile: resolve('data/leaf/hot-tags.json'),
      tagEndsFile: resolve('data/leaf/tag-ends.json'),
    });
    expect(config.ids.snowflake).toMatchObject({
      registry: { strategy: 'database', url: `sqlite:${resolve('data/leaf.sqlite')}`, migrate: true, accept: [] },
      layout: { timeBits: 41, workerBits: 10, sequenceBits: 12, epoch: 1_288_834_974_657 },
      instance: { port: 8080 },
      reportMs: 3000,
      leaseTtlMs: 3_600_000,
      maxBackwardsMs: 5,
    });
  });

  it('takes a start of the sequence in words', () => {
    const startOf = (LEAF_SNOWFLAKE_SEQUENCE_START: string): number | undefined =>
      loadConfig({ LEAF_SNOWFLAKE_SEQUENCE_START }).ids.snowflake?.sequenceStart;
    expect(['full', '0', '100'].map(startOf)).toEqual([2 ** 22, 0, 100]);
    expect(fault({ LEAF_SNOWFLAKE_SEQUENCE_START: 'all' })).toContain('must be full or a whole number from 0');
  });

  it('takes an empty variable for one that is not set', () => {
    expect(loadConfig({ LEAF_PORT: '' }).port).toBe(8080);
  });

  it.each(Object.entries(VARIABLES).flatMap(([name, { neverEmpty }]) => (neverEmpty ? [name] : [])))(
    'refuses an empty %s: its default can make IDs that exist already, or let anyone take IDs',
    (name) => {
      expect(fault({ [name]: '' })).toContain(`${name} is empty`);
    },
  );

  it('refuses a registry that servers share beside an embedded database', () => {
    const shared = ['database', 'mysql', 'zk_normal', 'zk_recycle'];
    const zookeeper = { LEAF_ZOOKEEPER: 'zk1' };
    for (const LEAF_SNOWFLAKE_REGISTRY of shared) {
      const message = fault({ ...zookeeper, LEAF_SNOWFLAKE_REGISTRY });
      expect(message).toContain(`LEAF_DATABASE_URL must be set beside the registry ${LEAF_SNOWFLAKE_REGISTRY}`);
      const server = { ...zookeeper, LEAF_SNOWFLAKE_REGISTRY, LEAF_DATABASE_URL: 'mysql://leaf@db/leaf' };
      expect(loadConfig(server).ids.segment).toBeDefined();
    }
    const embedded = { ...zookeeper, LEAF_DATABASE_URL: 'sqlite:/a' };
    expect(fault({ ...embedded, LEAF_SNOWFLAKE_REGISTRY: 'zk_recycle' })).toContain('LEAF_DATABASE_URL must name');
    const several = { ...zookeeper, LEAF_DATABASE_URLS: '{"a":"mysql://leaf@db/leaf","b":"sqlite:/b"}' };
    expect(fault({ ...several, LEAF_SNOWFLAKE_REGISTRY: 'zk_normal' })).toContain('LEAF_DATABASE_URLS must name');
    const mixed = { LEAF_DATABASE_URLS: '{"a":"mysql://leaf@db/leaf"}', LEAF_DATABASE_URL: 'sqlite:/a' };
    expect(fault({ ...mixed, LEAF_SNOWFLAKE_REGISTRY: 'database' })).toContain('LEAF_DATABASE_URL must name');
  });

  it('refuses a database in memory, which would issue the same IDs after each restart', () => {
    const memory = 'sqlite::memory:';
    expect(fault({ LEAF_DATABASE_URL: memory })).toContain('LEAF_DATABASE_URL must not be in memory');
    expect(fault({ LEAF_DATABASE_URLS: JSON.stringify({ a: memory }) })).toContain('"a" must not be in memory');
  });

  it('accepts both in one SQLite file, and a shared registry without segments', () => {
    for (const LEAF_SNOWFLAKE_REGISTRY of ['database', 'mysql', 'local']) {
      expect(loadConfig({ LEAF_SNOWFLAKE_REGISTRY, LEAF_DATABASE_URL: 'sqlite:/a' }).ids.segment).toBeDefined();
    }
    const zookeeper = { LEAF_SNOWFLAKE_REGISTRY: 'zk_recycle', LEAF_ZOOKEEPER: 'zk1', LEAF_SEGMENT_ENABLED: 'false' };
    expect(loadConfig(zookeeper).ids.snowflake).toBeDefined();
    const database = { LEAF_SNOWFLAKE_REGISTRY: 'database', LEAF_SEGMENT_ENABLED: 'false' };
    expect(fault(database)).toContain('LEAF_DATABASE_URL must be set');
  });

  it('has a port for the Redis protocol only on request', () => {
    expect(loadConfig({}).resp).toBeUndefined();
    expect(loadConfig({ LEAF_RESP_PORT: '6380' }).resp).toEqual({ host: '127.0.0.1', port: 6380, tls: undefined });
    const tls = { LEAF_RESP_TLS_CERT_FILE: 'a.pem', LEAF_RESP_TLS_KEY_FILE: 'b.pem' };
    expect(loadConfig({ LEAF_RESP_PORT: '0', LEAF_RESP_HOST: '::', ...tls }).resp).toEqual({
      host: '::',
      port: 0,
      tls: { certFile: 'a.pem', keyFile: 'b.pem' },
    });
    expect(fault({ LEAF_RESP_PORT: '8080' })).toContain('LEAF_RESP_PORT must differ from LEAF_PORT');
    expect(fault({ LEAF_RESP_PORT: '9', LEAF_MANAGEMENT_PORT: '9' })).toContain('and LEAF_MANAGEMENT_PORT');
    expect(fault({ LEAF_RESP_TLS_CERT_FILE: 'a.pem' })).toContain('must be set together');
  });

  it('logs for people on a terminal only', () => {
    expect(loadConfig({}, true).log.format).toBe('pretty');
    expect(loadConfig({ LEAF_LOG_FORMAT: 'json' }, true).log.format).toBe('json');
  });

  it('advertises the port it listens on', () => {
    expect(loadConfig({ LEAF_PORT: '9000' }).ids.snowflake?.instance.port).toBe(9000);
    expect(loadConfig({ LEAF_PORT: '9000', LEAF_ADVERTISE_PORT: '80' }).ids.snowflake?.instance.port).toBe(80);
  });

  it('keeps the state below the data directory', () => {
    const { segment, snowflake } = loadConfig({ LEAF_DATA_DIR: '/var/lib/x', LEAF_NAME: 'ids' }).ids;
    expect(segment?.database).toMatchObject({ url: 'sqlite:/var/lib/x/leaf.sqlite' });
    expect(snowflake?.registry).toMatchObject({ url: 'sqlite:/var/lib/x/leaf.sqlite' });
    const local = { LEAF_DATA_DIR: '/var/lib/x', LEAF_NAME: 'ids', LEAF_LOCAL_WORKERS: '{"*":3}' };
    expect(loadConfig(local).ids.snowflake?.registry).toEqual({
      ...{ strategy: 'local', workers: { '*': 3 }, directory: '/var/lib/x/ids' },
      databaseFile: '/var/lib/x/leaf.sqlite',
    });
  });

  it('takes worker IDs from where it is told', () => {
    const registry = (env: Record<string, string>): unknown => loadConfig(env).ids.snowflake?.registry;
    const fileDirectory = resolve('data/leaf');
    const shared = { LEAF_DATABASE_URL: 'mysql://leaf@db/leaf', LEAF_SNOWFLAKE_REGISTRY: 'mysql' };
    const mysql = { strategy: 'mysql', url: 'mysql://leaf@db/leaf', migrate: true, accept: [] };
    expect(registry(shared)).toEqual(mysql);
    expect(registry({ ...shared, LEAF_SNOWFLAKE_OFFLINE: 'local_file' })).toEqual({ ...mysql, fileDirectory });
    const zookeeper = {
      LEAF_SEGMENT_ENABLED: 'false',
      LEAF_ZOOKEEPER: 'zk1,zk2:2182/prod',
      LEAF_ZOOKEEPER_AUTH: 'digest:leaf:secret',
      LEAF_ADVERTISE_HOST: '10.0.0.7',
      LEAF_ADVERTISE_PORT: '9999',
    };
    const expected = {
      name: 'leaf',
      zookeeper: { address: 'zk1,zk2:2182/prod', auth: 'digest:leaf:secret' },
      url: 'http://10.0.0.7:8080',
    };
    expect(registry({ ...zookeeper, LEAF_SNOWFLAKE_REGISTRY: 'zk_normal' })).toEqual({
      strategy: 'zk_normal',
      ...expected,
    });
    const recycle = loadConfig({ ...zookeeper, LEAF_SNOWFLAKE_REGISTRY: 'zk_recycle' }).ids.snowflake;
    expect(recycle?.registry).toEqual({ strategy: 'zk_recycle', ...expected });
    expect(recycle?.leaseTtlMs).toBe(3_600_000);
    expect(fault({ LEAF_SNOWFLAKE_REGISTRY: 'zk_recycle' })).toContain('LEAF_ZOOKEEPER');
    expect(fault({ ...zookeeper, LEAF_ZOOKEEPER_AUTH: 'plain:secret' })).not.toContain('secret');
    expect(fault({ LEAF_ZOOKEEPER: 'zk:0' })).toContain('LEAF_ZOOKEEPER has an invalid host "zk:0"; use host:port');
  });

  it('does not begin anew for those who come from the Java service', () => {
    const moved = { LEAF_PROPERTIES_FILE: 'leaf.properties' };
    expect(fault(moved)).toContain('leaf.jdbc.url');
    expect(fault({ ...moved, LEAF_SEGMENT_ENABLED: 'false' })).toContain('leaf.jdbc.url');
    const local = { LEAF_SEGMENT_ENABLED: 'false', LEAF_SNOWFLAKE_REGISTRY: 'local' };
    expect(fault({ ...moved, ...local })).toContain('leaf.snowflake.local.workIdMap');
    expect(fault({ ...moved, LEAF_SEGMENT_ENABLED: 'false', LEAF_SNOWFLAKE_REGISTRY: 'mysql' })).toContain(
      'leaf.jdbc.url',
    );
    const whole = { ...moved, LEAF_DATABASE_URL: 'mysql://leaf@db/leaf', LEAF_LOCAL_WORKERS: '{"10.0.0.7:8080":1}' };
    expect(loadConfig(whole).ids.snowflake).toBeDefined();
  });

  it('reads the addresses of trusted proxies', () => {
    const proxies = (value: string): readonly string[] =>
      loadConfig({ LEAF_TRUSTED_PROXIES: value }).http.trustedProxies;
    expect(loadConfig({}).http).toMatchObject({ trustedProxies: [], keepAliveMs: 65_000 });
    expect(proxies('10.0.0.0/8, 127.0.0.1,fd00::/8,::1')).toEqual(['10.0.0.0/8', '127.0.0.1', 'fd00::/8', '::1']);
    for (const value of [
      '10.0.0.0/33',
      '::/129',
      'proxy',
      '10.0.0.1,',
      '10.0.0.0/8/8',
      '10.0.0.0/',
      '10.0.0.0/08',
      '10.0.0.0/00',
      'true',
      '1',
    ]) {
      expect(fault({ LEAF_TRUSTED_PROXIES: value })).toContain('LEAF_TRUSTED_PROXIES must be IP addresses');
    }
    for (const value of ['0.0.0.0/0', '10.0.0.1,::/0']) {
      expect(fault({ LEAF_TRUSTED_PROXIES: value })).toMatch(/must not contain (0\.0\.0\.0|::)\/0: every client/);
    }
  });

  it('leaves out a mode that is switched off', () => {
    expect(loadConfig({ LEAF_SEGMENT_ENABLED: 'false' }).ids.segment).toBeUndefined();
    expect(loadConfig({ LEAF_SNOWFLAKE_ENABLED: 'false' }).ids.snowflake).toBeUndefined();
  });

  it.each([
    { LEAF_SNOWFLAKE_REGISTRY: 'zk_recycle' },
    { LEAF_SNOWFLAKE_REGISTRY: 'etcd' },
    { LEAF_SNOWFLAKE_REGISTRY: 'mysql' },
    { LEAF_SNOWFLAKE_REGISTRY: 'local', LEAF_PROCESSES: '2', LEAF_LOCAL_WORKERS: '{"a:1":0,"b:1":1}' },
  ])('checks no setting of a mode that is switched off: %j', (settings) => {
    expect(() => loadConfig(settings)).toThrow();
    expect(loadConfig({ ...settings, LEAF_SNOWFLAKE_ENABLED: 'false' }).ids.snowflake).toBeUndefined();
  });

  it.each([
    ['LEAF_NAME', 'a/b'],
    ['LEAF_NAME', ' '],
    ['LEAF_NAME', '.'],
    ['LEAF_NAME', '..'],
    ['LEAF_HOST', 'http://x'],
    ['LEAF_PORT', '65536'],
    ['LEAF_PORT', '-1'],
    ['LEAF_PORT', '80a'],
    ['LEAF_ADVERTISE_PORT', '0'],
    ['LEAF_SEGMENT_ENABLED', 'yes'],
    ['LEAF_DATABASE_URL', 'oracle:x'],
    ['LEAF_DATABASE_URLS', 'mysql://db/leaf'],
    ['LEAF_DATABASE_URLS', '{}'],
    ['LEAF_DATABASE_URLS', '{"a b":"sqlite:x"}'],
    ['LEAF_DATABASE_URLS', '{"a":7}'],
    ['LEAF_DATABASE_URLS', '{"a":"oracle:x"}'],
    ['LEAF_DATABASE_TAGS', '{"order":"a"}'],
    ['LEAF_DATABASE_TAGS', '{"or der":"a"}'],
    ['LEAF_SEGMENT_WAIT_MS', '0'],
    ['LEAF_SEGMENT_WAIT_MS', '1.5'],
    ['LEAF_SEGMENT_PREFETCH_RATIO', '0'],
    ['LEAF_SEGMENT_PREFETCH_RATIO', '1.1'],
    ['LEAF_SEGMENT_PREFETCH_RATIO', 'NaN'],
    ['LEAF_SEGMENT_MAX_STEP', '1e6'],
    ['LEAF_SNOWFLAKE_REGISTRY', 'consul'],
    ['LEAF_SNOWFLAKE_OFFLINE', 'file'],
    ['LEAF_ZOOKEEPER', 'zk:0'],
    ['LEAF_ZOOKEEPER', 'zk/'.padEnd(9, '/')],
    ['LEAF_ZOOKEEPER_AUTH', 'leaf:secret'],
    ['LEAF_SNOWFLAKE_LEASE_TTL_MS', '9999'],
    ['LEAF_SNOWFLAKE_BITS', '41,10'],
    ['LEAF_SNOWFLAKE_BITS', '41,11,12'],
    ['LEAF_SNOWFLAKE_BITS', '20,10,12'],
    ['LEAF_SNOWFLAKE_EPOCH', '-5'],
    ['LEAF_LOCAL_WORKERS', ''.padEnd(3)],
    ['LEAF_LOCAL_WORKERS', '{}'],
    ['LEAF_LOCAL_WORKERS', '[]'],
    ['LEAF_LOCAL_WORKERS', '{"10.0.0.7":1}'],
    ['LEAF_LOCAL_WORKERS', '{"10.0.0.7:1":-1}'],
    ['LEAF_LOCAL_WORKERS', '{"10.0.0.7:1":"1"}'],
    ['LEAF_LOCAL_WORKERS', '{"10.0.0.7:1":1,"10.0.0.7:2":1}'],
    ['LEAF_LOCAL_WORKERS', '{"*":1024}'],
    ['LEAF_LOG_LEVEL', 'loud'],
  ])('refuses %s=%s and names it', (name, value) => {
    expect(fault({ [name]: value })).toContain(name);
  });

  it('takes worker IDs from the pool of a database that servers share, unless told otherwise', () => {
    const shared = { LEAF_DATABASE_URL: 'mysql://leaf@db/leaf' };
    const pool = { strategy: 'database', url: 'mysql://leaf@db/leaf', migrate: true, accept: [] };
    expect(loadConfig(shared).ids.snowflake).toMatchObject({ registry: pool, leaseTtlMs: 3_600_000 });
    expect(loadConfig({ ...shared, LEAF_SNOWFLAKE_REGISTRY: 'mysql_recycle' }).ids.snowflake?.registry).toEqual(pool);
    expect(loadConfig({ LEAF_DATABASE_URL: 'sqlite:/a' }).ids.snowflake?.registry.strategy).toBe('database');
    expect(fault({ ...shared, LEAF_SNOWFLAKE_REGISTRY: 'local' })).toContain('LEAF_LOCAL_WORKERS');
    for (const LEAF_LOCAL_WORKERS of ['{"*":0}', '{"10.0.0.7:8080":1}']) {
      expect(fault({ LEAF_LOCAL_WORKERS, LEAF_SNOWFLAKE_LEASE_TTL_MS: '5999' })).toContain('at least twice');
      expect(loadConfig({ ...shared, LEAF_LOCAL_WORKERS }).ids.snowflake).toBeDefined();
    }
    expect(loadConfig({ ...shared, LEAF_SNOWFLAKE_ENABLED: 'false' }).ids.segment).toBeDefined();
  });

  it('spreads the tags over several databases', () => {
    const LEAF_DATABASE_URLS = '{"a":"sqlite:/a","b":"sqlite:/b"}';
    expect(loadConfig({ LEAF_DATABASE_URLS, LEAF_DATABASE_TAGS: '{"order":"b"}' }).ids.segment?.database).toEqual({
      shards: { databases: { a: 'sqlite:/a', b: 'sqlite:/b' }, tags: { order: 'b' } },
      migrate: true,
      firstTag: 'leaf-segment-test',
      accept: [],
      failoverGapSteps: 10,
      numbers: { sync: false },
    });
    expect(loadConfig({ LEAF_DATABASE_URLS, LEAF_DATABASE_TAGS: '{}' }).ids.segment?.database).toMatchObject({
      shards: { tags: {} },
    });
    expect(fault({ LEAF_DATABASE_URLS, LEAF_DATABASE_TAGS: '{"order":"c"}' })).toContain('"c"');
    const several = { LEAF_DATABASE_URLS: '{"a":"mysql://leaf@db/leaf"}' };
    expect(fault(several)).toContain('LEAF_LOCAL_WORKERS');
    const inDatabase = { ...several, LEAF_SNOWFLAKE_REGISTRY: 'database' };
    expect(fault(inDatabase)).toContain('LEAF_DATABASE_URL must name the one database of the registry');
    const named = { ...inDatabase, LEAF_DATABASE_URL: 'mysql://leaf@db/leaf' };
    expect(loadConfig(named).ids.snowflake?.registry).toMatchObject({ url: 'mysql://leaf@db/leaf' });
  });

  it('does not show the password of a bad URL', () => {
    const message = fault({ LEAF_DATABASE_URL: 'mysql://root:secret@db' });
    expect(message).toContain('LEAF_DATABASE_URL must name');
    expect(message).not.toContain('secret');
    expect(fault({ LEAF_DATABASE_URLS: '{"a":"mysql://root:secret@db"}' })).not.toContain('secret');
  });

  it('reads the tokens of the admin API, and shows none', () => {
    expect(loadConfig({}).adminTokens).toBeUndefined();
    const token = 'secret-0123456789';
    expect(loadConfig({ LEAF_ADMIN_TOKEN: `ops:${token}` }).adminTokens).toEqual([{ name: 'ops', token }]);
    const message = fault({ LEAF_ADMIN_TOKEN: `ops:${token},ops:secret` });
    expect(message).toContain('LEAF_ADMIN_TOKEN entry 2 must');
    expect(message).not.toContain('secret');
  });

  it('lists every bad variable at once', () => {
    const message = fault({ LEAF_PORT: 'x', LEAF_SEGMENT_WAIT_MS: 'y', LEAF_LOG_LEVEL: 'z', LEAF_NAME: 'fine' });
    expect(message).toContain('LEAF_LOG_LEVEL must be error, warn, info or debug, not "z"');
    expect(message.split('\n').filter((line) => line.startsWith('  - '))).toHaveLength(3);
    expect(message).not.toContain('LEAF_NAME');
  });

  it('refuses to start with both modes off', () => {
    expect(fault({ LEAF_SEGMENT_ENABLED: 'false', LEAF_SNOWFLAKE_ENABLED: 'false' })).toContain('LEAF_SEGMENT_ENABLED');
  });

  it('knows what Kubernetes does beside a Service of this name', () => {
    expect(fault({ LEAF_PORT: 'tcp://10.96.0.1:80' })).toContain('enableServiceLinks');
    const links = { LEAF_SERVICE_HOST: '10.96.0.1', LEAF_PORT_80_TCP: 'tcp://10.96.0.1:80', LEAF_PORT: '8080' };
    expect(loadConfig(links).warnings).toStrictEqual([]);
  });

  it('warns of a variable that it does not know', () => {
    expect(loadConfig({ LEAF_PROT: '8081', LEAF_SEGMENT_WAIT: '5', LEAF_COLOUR: 'red' }).warnings).toEqual([
      'Unknown setting LEAF_PROT; ignored. Did you mean LEAF_PORT?',
      'Unknown setting LEAF_SEGMENT_WAIT; ignored. Did you mean LEAF_SEGMENT_WAIT_MS?',
      'Unknown setting LEAF_COLOUR; ignored. .env.example lists all settings.',
    ]);
  });

  describe('with earlier names of settings', () => {
    const [TOKEN, OTHER] = ['billing-token-0123456789', 'shop-token-0123456789'];
    const QUOTAS = '{"billing":{"idsPerSecond":10}}';

    it('reads them as the current ones, and says so once', () => {
      const current = loadConfig({ LEAF_CLIENT_TOKENS: `billing:${TOKEN}`, LEAF_CLIENT_QUOTAS: QUOTAS });
      const earlier = loadConfig({ LEAF_TAKER_TOKENS: `billing:${TOKEN}`, LEAF_TAKER_QUOTAS: QUOTAS });
      expect(earlier.clients).toEqual(current.clients);
      expect(current.warnings).toStrictEqual([]);
      expect(earlier.warnings).toEqual([
        'Use the new names of settings: LEAF_CLIENT_TOKENS for LEAF_TAKER_TOKENS, LEAF_CLIENT_QUOTAS for LEAF_TAKER_QUOTAS. The earlier ones still work.',
      ]);
    });

    it.each([
      ['the same value', TOKEN, TOKEN],
      ['nothing in the earlier one', '', TOKEN],
      ['nothing in the current one', TOKEN, ''],
    ])('takes both, with %s', (_, LEAF_TAKER_TOKENS, LEAF_CLIENT_TOKENS) => {
      expect(loadConfig({ LEAF_TAKER_TOKENS, LEAF_CLIENT_TOKENS }).clients?.tokens).toMatchObject([{ token: TOKEN }]);
    });

    it('refuses different values, an empty one, and a file beside a value', () => {
      const different = fault({ LEAF_TAKER_TOKENS: TOKEN, LEAF_CLIENT_TOKENS: OTHER });
      expect(different).toContain(
        'LEAF_TAKER_TOKENS is the earlier name of LEAF_CLIENT_TOKENS, and the two are set to',
      );
      expect(different).not.toMatch(/0123456789/);
      expect(fault({ LEAF_TAKER_TOKENS: '' })).toMatch(/LEAF_CLIENT_TOKENS is empty[^]*CLIENT_TOKENS for LEAF_TAKER_/);
      const file = fault({ LEAF_TAKER_TOKENS_FILE: '/tokens', LEAF_CLIENT_TOKENS: TOKEN });
      expect(file).toContain('LEAF_CLIENT_TOKENS and LEAF_CLIENT_TOKENS_FILE are both set');
      expect(file).toContain('LEAF_CLIENT_TOKENS_FILE for LEAF_TAKER_TOKENS_FILE');
    });
  });

  it('does not warn of the variables of the command leaf', () => {
    expect(
      loadConfig({ LEAF_URL: 'http://leaf', LEAF_TOKEN: 'x', LEAF_TOKEN_FILE: '/run/token' }).warnings,
    ).toStrictEqual([]);
  });

  it('warns of a server that others cannot be told from', () => {
    const port = { LEAF_PORT: '0', LEAF_SNOWFLAKE_REGISTRY: 'mysql', LEAF_DATABASE_URL: 'sqlite:/a' };
    expect(loadConfig(port).warnings).toEqual([expect.stringContaining('LEAF_ADVERTISE_PORT')]);
    expect(loadConfig({ ...port, LEAF_ADVERTISE_PORT: '9001' }).warnings).toStrictEqual([]);
    expect(loadConfig({ ...port, LEAF_SNOWFLAKE_REGISTRY: 'local' }).warnings).toStrictEqual([]);
    expect(loadConfig({ ...port, LEAF_SNOWFLAKE_REGISTRY: 'database' }).warnings).toStrictEqual([]);
    expect(loadConfig({ ...port, LEAF_SNOWFLAKE_ENABLED: 'false' }).warnings).toStrictEqual([]);
  });

  it('takes a management port beside the port, at the same address by default', () => {
    const of = (env: NodeJS.ProcessEnv): unknown => loadConfig({ LEAF_HOST: '10.0.0.7', ...env }).management;
    expect(of({})).toBeUndefined();
    expect(of({ LEAF_MANAGEMENT_PORT: '8081' })).toEqual({ host: '10.0.0.7', port: 8081 });
    const apart = { LEAF_MANAGEMENT_PORT: '0', LEAF_PORT: '0', LEAF_MANAGEMENT_HOST: '127.0.0.1' };
    expect(of(apart)).toEqual({ host: '127.0.0.1', port: 0 });
    expect(() => of({ LEAF_MANAGEMENT_PORT: '8080' })).toThrow('LEAF_MANAGEMENT_PORT must differ from LEAF_PORT');
  });

  it.each(['leaf', '/leaf/', '//leaf', '/leaf?x', '/le af', 'https://host/leaf'])('takes no public path %j', (path) => {
    expect(loadConfig({}).publicPath).toBe('');
    expect(loadConfig({ LEAF_PUBLIC_PATH: '/a/leaf' }).publicPath).toBe('/a/leaf');
    expect(() => loadConfig({ LEAF_PUBLIC_PATH: path })).toThrow('LEAF_PUBLIC_PATH');
  });
});
