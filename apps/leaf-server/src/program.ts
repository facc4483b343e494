import cluster from 'node:cluster';
import { runProgram, wantsJson } from '@leaf-ids/cli';
import { PROCESS_FLAG } from './processes/messages';
import { serverProgram } from './commands/command-line';

/**
 * Loads the server only for a command that needs it: the usage and the version are printed at once. Before the server
 * comes `reflect-metadata`: Nest decorates its own classes when its chunk is loaded, ahead of the chunk that imports it.
 */
export async function main(args: readonly string[]): Promise<void> {
  if (cluster.isWorker && args[0]?.startsWith(`${PROCESS_FLAG}=`) === true) {
    await import('reflect-metadata');
    const [{ runProcess }, { startServer }] = await Promise.all([
      import('./processes/run-process.js'),
      import('./server.js'),
    ]);
    runProcess(startServer);
    return;
  }
  const program = serverProgram(
    async (line) => {
      await import('reflect-metadata');
      const { run } = await import('./run.js');
      await run(line);
    },
    { json: wantsJson(args) },
  );
  const code = await runProgram(program, args);
  if (code !== 0) process.exitCode = code;
}
