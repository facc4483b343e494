const whole = require('./jest.config.js');

/**
 * Clients in other languages: their build tools fetch libraries from the public registries of these languages.
 *
 * @type {import('jest').Config}
 */
module.exports = {
  ...whole,
  roots: ['<rootDir>/test/clients'],
  testRegex: '\\.clients\\.ts$',
  maxWorkers: 1,
};
