#!/usr/bin/env node
import './compile-cache';
import cluster from 'node:cluster';
import { PROCESS_FLAG } from './cluster/process-flag';
import { parseCommandLine, USAGE, UsageError } from './commands/command-line';
import { serverVersion } from './config/version';

/** Loads the server only for a command that needs it: the usage and the version are printed at once. */
async function main(args: readonly string[]): Promise<void> {
  if (cluster.isWorker && args[0]?.startsWith(`${PROCESS_FLAG}=`) === true) {
    const [{ runProcess }, { startServer }] = await Promise.all([
      import('./cluster/run-process.js'),
      import('./server.js'),
    ]);
    runProcess(startServer);
    return;
  }
  const line = parseCommandLine(args);
  if (line.command === 'help') {
    process.stdout.write(USAGE);
  } else if (line.command === 'version') {
    process.stdout.write(`${serverVersion()}\n`);
  } else {
    const { run } = await import('./run.js');
    await run(line);
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`leaf-server: ${error.message}. leaf-server --help shows the usage.\n`);
  process.exitCode = 2;
});
