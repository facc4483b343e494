/** What the simulation imports. */
export const FOLDERS = [
  'test/long/simulation',
  'test/support',
  'libs/core',
  'libs/registry/src',
  'libs/persistence/src',
  'migrations',
];
