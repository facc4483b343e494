import { projects } from './jest.config.js';

const cache = 'node_modules/.cache/stryker';

/**
 * Mutation testing of libs/core: what its tests do not notice. See CONTRIBUTING.md.
 *
 * @type {import('@stryker-mutator/api/core').PartialStrykerOptions}
 */
export default {
  mutate: ['libs/core/src/**/*.ts', '!**/*.spec.ts', '!libs/core/src/{index,internal}.ts'],
  // What the tests of the core need, and no more: it is copied.
  ignorePatterns: [
    '**',
    '!/libs/**/*.ts',
    '/libs/*/dist',
    '!/test/**/*.{ts,cjs}',
    '!/jest.config.js',
    '!/package.json',
    '!/tsconfig.json',
  ],
  testRunner: 'jest',
  jest: {
    config: {
      ...projects[0],
      // Those that run in memory, by a clock of their own, in milliseconds: a test that takes seconds hangs. The walks of
      // test/fast/property take longer for each mutant than all others together, and meet another world at every run.
      testRegex: ['/libs/core/.*\\.spec\\.ts$', '/test/fast/property/id-.*\\.spec\\.ts$'],
      roots: ['<rootDir>/libs/core', '<rootDir>/test/fast/property', '<rootDir>/test/support'],
      testTimeout: 3000,
    },
  },
  coverageAnalysis: 'perTest',
  concurrency: 2,
  // Beside one and a half times what the tests of the mutant take: milliseconds. One in seven never ends.
  timeoutMS: 5_000,
  incremental: true,
  incrementalFile: `${cache}/incremental.json`,
  tempDirName: 'coverage/stryker',
  reporters: ['progress-append-only', 'clear-text', 'json', 'html'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  jsonReporter: { fileName: `${cache}/mutation.json` },
  htmlReporter: { fileName: `${cache}/mutation.html` },
  thresholds: { high: 95, low: 90, break: 85 },
};
