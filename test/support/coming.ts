/** Files and commands that pages and workflows name, and that this revision does not have yet. */
export const COMING: ReadonlySet<string> = new Set([
  'npm run mutation',
  'proof/README.md',
  'proof/inductive/prove.py',
  'proof/run.mjs',
  'proof/trace',
  'test/long/strict/porcupine',
  'test/mutation/README.md',
  'test/versions/README.md',
  'test/versions/run.mjs',
]);
