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
  reporters: ['default', '<rootDir>/test/support/closing-line.reporter.cjs'],
  testSequencer: '<rootDir>/test/support/longest-first.sequencer.cjs',
  // Most suites wait for servers, so a core without a worker would be idle.
  maxWorkers: '100%',
  // On a busy machine, a worker needs more than the half second that Jest allows to exit.
  workerGracefulExitTimeout: 30_000,
  // Suites start database servers and builds, which takes minutes on a busy machine.
  testTimeout: 180_000,
};
