const whole = require('./jest.config.js');

/**
 * Other engines than those of the ordinary tests, one after the other: each is some servers.
 *
 * @type {import('jest').Config}
 */
module.exports = {
  ...whole,
  roots: ['<rootDir>/test/engines'],
  testRegex: '\\.engine\\.ts$',
  maxWorkers: 1,
  reporters: [...whole.reporters, '<rootDir>/test/engines/results.reporter.cjs'],
  testTimeout: 600_000,
};
