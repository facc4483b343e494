const whole = require('./jest.config.js');

/**
 * The registry `kubernetes` on a real API server. The first run builds it from its Go module, within this time limit.
 *
 * @type {import('jest').Config}
 */
module.exports = {
  ...whole,
  roots: ['<rootDir>/test/kubernetes'],
  testRegex: '\\.kubernetes\\.ts$',
  maxWorkers: 1,
  testTimeout: 3_600_000,
};
