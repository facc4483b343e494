const whole = require('./jest.config.js');

/**
 * Which lines of the core and the registries the tests reach, and how many they have to. Only what runs inside of the
 * tests' own processes counts, so the tests are those that call the two libraries themselves.
 *
 * @type {import('jest').Config}
 */
module.exports = {
  ...whole,
  testRegex: [
    '/libs/(core|registry)/.*\\.spec\\.ts$',
    '/test/property/.*\\.spec\\.ts$',
    '/test/(services/)?contract/.*(registry|worker-store|worker-file|faults|(etcd|kubernetes)-\\w+)\\.spec\\.ts$',
    '/test/services/zookeeper/zookeeper-session\\.spec\\.ts$',
  ],
  collectCoverage: true,
  // By the engine itself: what an instrumenter adds to the native host would not be known in its process.
  coverageProvider: 'v8',
  collectCoverageFrom: [
    'libs/{core,registry}/src/**/*.ts',
    '!**/*.spec.ts',
    // Types alone: there is nothing to be run.
    '!libs/core/src/segment/{buffer-context,segment-events,tag-source}.ts',
    '!libs/core/src/snowflake/issue-window.ts',
    '!libs/core/src/worker/claim-context.ts',
    '!libs/registry/src/strategies/strategy.ts',
    // The program of another process, where its own tests run it.
    '!libs/registry/src/stores/zookeeper/native-host.ts',
  ],
  coverageDirectory: 'coverage',
  coverageReporters: [['text', { skipFull: true }], 'html'],
  coverageThreshold: {
    './libs/core/src': { lines: 100, branches: 95 },
    './libs/registry/src': { lines: 100, branches: 95 },
  },
};
