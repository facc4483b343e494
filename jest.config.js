/** What every project has. */
const common = {
  rootDir: __dirname,
  testEnvironment: 'node',
  transform: {
    '^.+\\.[cm]?[jt]s$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
        },
        module: { type: 'commonjs' },
      },
    ],
  },
  // Nest and its dependencies are ESM, and the trace exporter uses import(): Jest on Node.js 20 supports only require.
  transformIgnorePatterns: [
    '/node_modules/(?!(@nestjs|@opentelemetry/otlp-exporter-base|file-type|strtok3|token-types|uint8array-extras|@tokenizer|@borewit|cookie|path-to-regexp)/)',
  ],
  moduleNameMapper: {
    '^@leaf-ids/migrations$': '<rootDir>/migrations/index.ts',
    '^@leaf-ids/([a-z]+)$': '<rootDir>/libs/$1/src/index.ts',
    '^@leaf-ids/([a-z]+)/([a-z]+)$': '<rootDir>/libs/$1/src/$2.ts',
    '^(\\.{1,2}/.*)\\.js$': ['$1.js', '$1'],
  },
};

/** A test belongs to the tier of its folder; those beside the code are fast. */
const TIERS = ['server', 'services', 'e2e', 'applications', 'long', 'attack'];
/** Tiers that need the packages of npm alone. */
const WITHOUT_TOOLS = ['server'];
/** In the fast tier, and in full in the tier long. */
const PROPERTIES = '<rootDir>/test/fast/property';
/** Tests that need more than npm and Debian, by the end of their names. */
const OTHERS = { deploy: 'deploy', clients: 'clients', engines: 'engine', kubernetes: 'kubernetes' };

const fast = {
  ...common,
  displayName: 'fast',
  testRegex: '\\.spec\\.ts$',
  roots: ['apps', 'libs', 'bench', 'test/fast', 'test/support'].map((folder) => `<rootDir>/${folder}`),
};
const tiers = TIERS.map((tier) => ({
  ...common,
  displayName: tier,
  testRegex: '\\.spec\\.ts$',
  roots: [`<rootDir>/test/${tier}`, ...(tier === 'long' ? [PROPERTIES] : [])],
  // The fast tier runs a part of them: test/support/runs.ts.
  globals: { fullRuns: tier === 'long' },
  ...(!WITHOUT_TOOLS.includes(tier) && { globalSetup: '<rootDir>/test/support/require-tools.ts' }),
}));
const others = Object.entries(OTHERS).map(([name, end]) => ({
  ...common,
  displayName: name,
  testRegex: `\\.${end}\\.ts$`,
  roots: [`<rootDir>/test/${name}`],
  ...(name === 'deploy' && { globalSetup: '<rootDir>/test/support/deploy/require-tools.ts' }),
}));

/** @type {import('jest').Config} */
module.exports = {
  projects: [fast, ...tiers, ...others],
  reporters: ['default', '<rootDir>/test/support/closing-line.reporter.cjs'],
  testSequencer: '<rootDir>/test/support/longest-first.sequencer.cjs',
  // Most suites wait for servers, so a core without a worker would be idle.
  maxWorkers: '100%',
  // Modules of ended suites stay in memory; a large heap doubles the time of what follows.
  workerIdleMemoryLimit: '500MB',
  // On a busy machine, a worker needs more than the half second that Jest allows to exit.
  workerGracefulExitTimeout: 30_000,
  // Suites start database servers and builds, which takes minutes on a busy machine.
  testTimeout: 180_000,
  // Only with --coverage. What runs inside the processes of the tests counts, so scripts/coverage.mjs chooses them.
  // The engine counts by itself: what an instrumenter adds to the native host would not be known in its process.
  coverageProvider: 'v8',
  coverageDirectory: 'coverage',
  coverageReporters: [['text', { skipFull: true }], 'html'],
  coverageThreshold: {
    './libs/core/src': { lines: 100, branches: 95 },
    './libs/registry/src': { lines: 100, branches: 95 },
  },
};
