/** @type {import('jest').Config} */
module.exports = {
  rootDir: '.',
  roots: ['<rootDir>/apps', '<rootDir>/libs', '<rootDir>/test'],
  testRegex: '\\.spec\\.ts$',
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
  // Nest and what it brings are ESM, the exporter of traces imports as it runs; Jest on Node 20 can only require.
  transformIgnorePatterns: [
    '/node_modules/(?!(@nestjs|@opentelemetry/otlp-exporter-base|file-type|strtok3|token-types|uint8array-extras|@tokenizer|@borewit|cookie|path-to-regexp)/)',
  ],
  moduleNameMapper: {
    '^@leaf-ids/migrations$': '<rootDir>/migrations/index.ts',
    '^@leaf-ids/client/plain$': '<rootDir>/libs/client/src/plain.ts',
    '^@leaf-ids/orm/prisma$': '<rootDir>/libs/orm/src/prisma/index.ts',
    '^@leaf-ids/([a-z]+)$': '<rootDir>/libs/$1/src/index.ts',
    '^(\\.{1,2}/.*)\\.js$': ['$1.js', '$1'],
  },
  reporters: ['default', '<rootDir>/test/support/closing-line.reporter.cjs'],
  testSequencer: '<rootDir>/test/support/longest-first.sequencer.cjs',
  // Most of them wait for servers: leaving a core free would leave it idle.
  maxWorkers: '100%',
  // A worker that has nothing left to do ends by itself; on a busy machine not within the half second that Jest allows.
  workerGracefulExitTimeout: 30_000,
  // Suites start database servers and builds, which takes minutes on a busy machine.
  testTimeout: 180_000,
};
