/** What the simulation imports. */
export const FOLDERS = ['test/simulation', 'libs/core', 'libs/registry/src/policies'];
