/** The layers of docs/architecture.md: imports point down, never up, never in a circle. */
const layers = {
  core: [],
  persistence: ['core'],
  registry: ['core', 'persistence'],
  id: ['core', 'persistence', 'registry'],
  client: ['core'],
  cli: ['core', 'client', 'persistence', 'id'],
  orm: ['core'],
  nest: ['core'],
};

const upward = Object.entries(layers).map(([lib, below]) => ({
  name: `${lib}-imports-down`,
  comment: `libs/${lib} may import ${below.length > 0 ? below.join(', ') : 'no other library'}.`,
  severity: 'error',
  from: { path: `^libs/${lib}/`, pathNot: '\\.spec\\.ts$' },
  to: { path: '^(libs|apps|test|bench)/', pathNot: `^libs/(${[lib, ...below].join('|')})/` },
}));

/**
 * The folders of a part, the lowest first: each imports itself and those before it. A folder is its files alone; those
 * inside of it are listed by themselves, and a new one has to be.
 */
const folders = {
  'apps/leaf-server/src': [
    'config',
    'lifecycle',
    'tokens',
    'clients',
    'processes',
    'tracing',
    'commands',
    'connections',
    'http/responses',
    'http/overload',
    'http',
    'http/connection',
    'http/server',
    'openapi',
    'ids',
    'health',
    'admin',
    'worker-windows',
    'console',
    'resp',
    'monitor/views',
    'monitor/sampling',
    'monitor/process',
    'monitor/server',
    'monitor/stream',
    'monitor',
    'cluster',
    'metrics',
    'java-compat',
    '.',
  ],
  'libs/core/src': [
    ...['errors', 'clock', 'util', 'http'],
    ...['segment/tags', 'segment/allocation', 'segment/buffer', 'segment/periodic', 'segment/directory', 'segment'],
    'snowflake',
    ...['worker/records', 'worker/registry', 'worker/lease', 'worker/windows'],
    ...['steps', 'service', 'format', 'numbers', 'testing', '.'],
  ],
  'libs/persistence/src': [
    ...[
      'connections',
      'failover',
      'stores',
      'numbers',
      'schema',
      'dialects/shared',
      'dialects/mysql',
      'dialects/postgres',
      'dialects/sqlite',
      'dialects',
      'database',
      'sharding',
      'module',
      'check',
      '.',
    ],
  ],
  'libs/registry/src': [
    ...[
      'file',
      'policies',
      'stores/shared',
      'stores/directory',
      'stores/zookeeper',
      'stores/etcd',
      'stores/kubernetes',
    ],
    ...['strategies', '.'],
  ],
  'libs/id/src': ['segment', 'snowflake', 'options', 'runtime', 'metrics', 'modules', 'testing', '.'],
};

const folderRules = Object.entries(folders).flatMap(([part, names]) => {
  const files = names.map((name) => `^${part}/${name === '.' ? '' : `${name}/`}[^/]+$`);
  const below = names.map((name, index) => ({
    name: `${part}/${name}-imports-down`,
    comment: `${part}/${name} may import ${names.slice(0, index).join(', ') || 'no other folder'}.`,
    severity: 'error',
    from: { path: files[index], pathNot: '\\.spec\\.ts$' },
    to: { path: `^${part}/`, pathNot: files.slice(0, index + 1) },
  }));
  const unlisted = {
    name: `${part}-folders-are-listed`,
    comment: `A new folder of ${part} takes its place among its folders in .dependency-cruiser.cjs.`,
    severity: 'error',
    from: { path: `^${part}/`, pathNot: files },
    to: {},
  };
  return [...below, unlisted];
});

module.exports = {
  forbidden: [
    { name: 'no-circle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'core-is-pure',
      comment: 'libs/core imports node:* and itself, nothing else.',
      severity: 'error',
      from: { path: '^libs/core/', pathNot: '\\.spec\\.ts$' },
      to: { pathNot: '^libs/core/', dependencyTypesNot: ['core'] },
    },
    {
      name: 'core-testing-on-top',
      comment: 'The code of libs/core does not import its folder testing.',
      severity: 'error',
      from: { path: '^libs/core/', pathNot: '^libs/core/src/testing[/.]|\\.spec\\.ts$' },
      to: { path: '^libs/core/src/testing[/.]' },
    },
    {
      name: 'libs-through-their-index',
      comment: 'Another library is imported as @leaf-ids/<name>, not by a path inside it.',
      severity: 'error',
      from: { path: '^(libs/([^/]+)|apps/[^/]+)/' },
      to: {
        path: '^libs/',
        pathNot: ['^libs/$2/', '^libs/[^/]+/src/(index|internal|testing)\\.ts$', '^libs/client/src/nest\\.ts$'],
      },
    },
    {
      name: 'client-without-nest',
      comment: '@leaf-ids/client needs core alone; Nest comes with nest.ts.',
      severity: 'error',
      from: { path: '^libs/client/src/index\\.ts$' },
      to: { reachable: true, path: 'node_modules/' },
    },
    {
      name: 'no-tests-in-code',
      severity: 'error',
      from: { path: '^(libs|apps|migrations)/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^(test|bench)/' },
    },
    {
      name: 'bench-without-tests',
      comment: 'A benchmark measures the product and starts its own services.',
      severity: 'error',
      from: { path: '^bench/' },
      to: { path: '^test/' },
    },
    {
      name: 'tests-without-bench',
      severity: 'error',
      from: { path: '^test/' },
      to: { path: '^bench/' },
    },
    {
      name: 'migrations-stand-alone',
      severity: 'error',
      from: { path: '^migrations/' },
      to: { path: '^(libs|apps)/' },
    },
    {
      name: 'console-stands-alone',
      comment: 'The page takes nothing from the rest but the types of what the monitor answers.',
      severity: 'error',
      from: { path: '^apps/leaf-console/', pathNot: '^apps/leaf-console/src/monitor/views\\.ts$' },
      to: { path: '^(libs|apps|migrations)/', pathNot: '^apps/leaf-console/' },
    },
    {
      name: 'console-takes-types-only',
      severity: 'error',
      from: { path: '^apps/leaf-console/src/monitor/views\\.ts$' },
      to: { path: '^(libs|apps|migrations)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'nothing-imports-the-console',
      severity: 'error',
      from: { path: '^(libs|apps|migrations|test|bench)/', pathNot: '^apps/leaf-console/' },
      to: { path: '^apps/leaf-console/' },
    },
    {
      name: 'resolvable',
      comment:
        'test/clients runs outside of the repository, where its libraries are installed; test/mutation imports from packages that export to Node.js only.',
      severity: 'error',
      from: { pathNot: '^test/(clients|mutation)/' },
      to: { couldNotResolve: true },
    },
    ...upward,
    ...folderRules,
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    // Programs of test/applications run where their packages are installed.
    exclude: { path: ['(^|/)dist/', '^apps/[^/]+/[^/]+\\.mjs$', '^test/applications/[^/]+/programs/'] },
  },
};
