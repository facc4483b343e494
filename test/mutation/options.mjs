import jest from '../../jest.config.js';

/** Where the results stay from run to run. */
export const cache = 'node_modules/.cache/stryker';

/**
 * How Stryker tests a part.
 *
 * @param {import('./parts.mjs').Part} part
 * @param {string[]} mutate what to change this time
 * @param {number} concurrency processes
 * @returns {import('@stryker-mutator/api/core').PartialStrykerOptions}
 */
export function strykerOptions(part, mutate, concurrency) {
  const [fast] = jest.projects;
  return {
    mutate: [...mutate, '!**/*.spec.ts'],
    // Most texts are those of errors, for people.
    mutator: { excludedMutations: part.texts ? [] : ['StringLiteral'] },
    // What the tests need, and no more: it is copied.
    ignorePatterns: [
      '**',
      '!/{apps,libs,migrations,test}/**/*.{ts,cjs}',
      '/{apps,libs}/*/dist',
      '!/jest.config.js',
      '!/package.json',
      '!/tsconfig.json',
    ],
    testRunner: 'jest',
    jest: {
      enableFindRelatedTests: false,
      config: {
        ...fast,
        rootDir: undefined,
        // Stryker adds this to jest.config.js, and would run each test in all of its projects.
        projects: [],
        // Jest lists the files below them for each mutant.
        roots: part.tests.map(folderOf),
        testRegex: part.tests.map(specs),
        testRunner: '<rootDir>/test/mutation/jest-circus-narrow.cjs',
        testSequencer: '<rootDir>/test/mutation/smallest-first.sequencer.cjs',
        // Leaves out the search for a program.
        watchman: false,
        // A test that takes longer hangs.
        testTimeout: 20_000,
      },
    },
    coverageAnalysis: 'perTest',
    concurrency,
    // Beside one and a half times what the tests of the mutant take.
    timeoutMS: 30_000,
    dryRunTimeoutMinutes: 30,
    incremental: true,
    incrementalFile: `${cache}/${part.name}.json`,
    tempDirName: 'coverage/stryker',
    reporters: ['progress-append-only', 'clear-text', 'html'],
    clearTextReporter: { allowColor: false, logTests: false, reportTests: false, reportScoreTable: true },
    htmlReporter: { fileName: `${cache}/${part.name}.html` },
    thresholds: { high: 95, low: 90, break: null },
  };
}

/** The folder of the tests whose paths begin as the regular expression `path`. */
function folderOf(path) {
  const [begin] = path.split(/[^\w/.-]/);
  return `<rootDir>/${begin.slice(0, begin.lastIndexOf('/'))}`;
}

function specs(path) {
  return `/${path}.*\\.spec\\.ts$`;
}
