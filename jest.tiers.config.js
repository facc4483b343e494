const {
  roots,
  reporters,
  testSequencer,
  maxWorkers,
  workerGracefulExitTimeout,
  testTimeout,
  ...common
} = require('./jest.config.js');

/** A test belongs to the tier of its folder, and to the fast tier when it is in none of these. */
const FOLDERS = {
  services: 'test/services',
  e2e: 'test/e2e',
  applications: 'test/applications',
  long: 'test/long',
  attack: 'test/attack',
};

const fast = {
  ...common,
  displayName: 'fast',
  roots,
  testPathIgnorePatterns: Object.values(FOLDERS).map((folder) => `<rootDir>/${folder}/`),
};
const others = Object.entries(FOLDERS).map(([tier, folder]) => ({
  ...common,
  displayName: tier,
  roots: [`<rootDir>/${folder}`],
  globalSetup: '<rootDir>/test/support/require-tools.ts',
}));

/** @type {import('jest').Config} */
module.exports = {
  projects: [fast, ...others],
  reporters,
  testSequencer,
  maxWorkers,
  workerGracefulExitTimeout,
  testTimeout,
};
