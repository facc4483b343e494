/** What the simulation imports. */
export const FOLDERS = ['test/long/simulation', 'libs/core', 'libs/registry/src/policies'];
