const whole = require('./jest.config.js');

/**
 * Manifests and chart: Helm, Kustomize and the schemas of Kubernetes are modules of Go, from its public proxy.
 *
 * @type {import('jest').Config}
 */
module.exports = {
  ...whole,
  roots: ['<rootDir>/test/deploy'],
  testRegex: '\\.deploy\\.ts$',
  globalSetup: '<rootDir>/test/support/deploy/require-tools.ts',
  maxWorkers: 1,
};
