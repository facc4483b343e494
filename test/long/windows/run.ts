import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runMain } from '../../support/servers/run-main';
import { runWindows } from './windows-run';

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '1' },
      clients: { type: 'string', default: '64' },
      seed: { type: 'string', default: String(1 + Math.floor(Math.random() * 1_000_000)) },
      server: { type: 'string', default: 'dist/apps/leaf-server/src/main.js' },
    },
  });
  const outcome = await runWindows({
    minutes: Number(values.minutes),
    clients: Number(values.clients),
    seed: Number(values.seed),
    serverFile: resolve(values.server),
    clientFile: join(process.cwd(), 'test/long/windows/client.mjs'),
  });
  console.log(JSON.stringify({ seed: Number(values.seed), ...outcome }, undefined, 2));
  if (outcome.duplicates.length > 0) process.exitCode = 1;
}

runMain(main);
