/**
 * The parts of the product that mutation testing changes, and the tests that have to notice. Tests of the fast tier
 * alone: they need no server, and they end in seconds. `texts` says whether texts are changed, too.
 *
 * @typedef {{ name: string, mutate: string[], tests: string[], texts?: boolean }} Part
 * @type {readonly Part[]}
 */
export const parts = [
  {
    name: 'segment',
    mutate: ['libs/core/src/segment/**/*.ts'],
    tests: ['libs/core/src/segment/', 'test/fast/contract/in-memory-segment-store'],
  },
  {
    name: 'worker',
    mutate: ['libs/core/src/worker/{records/!(window-holder),registry/*,lease/*}.ts'],
    tests: ['libs/core/src/worker/(?!windows/|records/window-holder)', 'test/fast/contract/worker-registry'],
  },
  {
    name: 'windows',
    mutate: ['libs/core/src/worker/{windows/worker-windows,records/window-holder}.ts'],
    tests: ['libs/core/src/worker/(windows/|records/window-holder)', 'test/fast/contract/worker-registry'],
  },
  {
    name: 'snowflake',
    mutate: ['libs/core/src/{snowflake,format,clock}/**/*.ts'],
    tests: [
      'libs/core/src/(snowflake|clock|testing)/',
      'libs/core/src/segment/tags/periods',
      'test/fast/property/(id-|periods)',
    ],
  },
  {
    name: 'numbers',
    mutate: ['libs/core/src/numbers/**/*.ts', 'libs/persistence/src/numbers/**/*.ts'],
    tests: [
      'libs/core/src/numbers/',
      'test/fast/contract/(sqlite|reissued|continued)-number',
      'test/fast/embedded/leaf-number',
    ],
  },
  {
    name: 'core',
    mutate: ['libs/core/src/{errors,http,service,testing,util}/**/*.ts'],
    tests: ['libs/core/src/(errors|http|service|testing|util)/', 'test/fast/contract/id-service'],
  },
  {
    name: 'persistence',
    mutate: [
      'libs/persistence/src/{check,failover,schema,sharding,stores}/**/*.ts',
      'libs/persistence/src/dialects/{dialects,shared/{dialect,url-parameters},sqlite/*,mysql/{mysql-guard,mysql-session}}.ts',
    ],
    tests: [
      'libs/persistence/',
      'test/fast/contract/(sqlite|database-roster|remove-database|shared-tags|pool-faults)',
      'test/fast/embedded/(in-memory-database|sqlite-files)',
    ],
    texts: true,
  },
  {
    name: 'registry',
    mutate: [
      'libs/registry/src/{file,policies}/**/*.ts',
      'libs/registry/src/stores/{directory,kubernetes,shared}/**/*.ts',
    ],
    tests: [
      'libs/registry/',
      'test/fast/contract/(directory-worker-store|kubernetes-workers|worker-file|pool-faults|sqlite-worker)',
    ],
  },
  {
    name: 'server',
    mutate: [
      'apps/leaf-server/src/{resp,tokens,clients,worker-windows}/**/*.ts',
      // The quotas of clients on the routes of HTTP.
      'apps/leaf-server/src/ids/takes-ids.ts',
      'apps/leaf-server/src/admin/admin.guard.ts',
    ],
    tests: [
      'apps/leaf-server/src/(resp|tokens|clients|worker-windows)/',
      'apps/leaf-server/src/ids/takes-ids',
      'apps/leaf-server/src/admin/admin.guard',
      'test/fast/server/(admin-access|workers)',
    ],
  },
  {
    name: 'client',
    mutate: ['libs/client/src/{prefetch,window}/**/*.ts'],
    tests: ['libs/client/src/(prefetch/|window/|client-options)', 'test/fast/client/(client|worker)-windows'],
  },
];
