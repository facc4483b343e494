import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { exclusively, ROOT } from './exclusively';

export { ROOT };
export const SERVER_FILE = join(ROOT, 'dist/apps/leaf-server/src/main.js');

/** Builds the server if its sources have changed. If test files run in parallel, one builds and the others wait. */
export function ensureBuilt(): Promise<void> {
  return exclusively('build', build);
}

function build(): Promise<void> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, ['scripts/ensure-build.mjs'], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (output += part.toString()));
    child.on('error', fail);
    child.on('close', (code) => (code === 0 ? done() : fail(new Error(`The build failed:\n${output}`))));
  });
}
