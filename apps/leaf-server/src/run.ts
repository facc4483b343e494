import { Logger } from '@nestjs/common';
import { errorJson, PROCESS_TERMINAL } from '@leaf-ids/cli';
import { SystemClock } from '@leaf-ids/core';
import type { CommandLine } from './commands/command-line';
import { readConfig, startFaultLog } from './config/environment';
import type { LeafConfig } from './config/leaf-config';
import { LeafLogger } from './config/logging';
import { readPropertiesFile } from './java-compat/java-properties';
import { reportStartFault, startError, startFault } from './lifecycle/start-fault';
import type { LeafServer } from './server';

/** Runs a command of leaf-server. A fault is reported on standard error, and sets the exit code. */
export async function run(line: CommandLine): Promise<void> {
  try {
    await runCommand(line);
  } catch (error) {
    const log = startFaultLog();
    if ('json' in line && line.json) PROCESS_TERMINAL.err(errorJson(startError(error)));
    else reportStartFault(startFault(error), line.command === 'serve' ? log : { ...log, format: 'pretty' });
    process.exitCode = 1;
  }
}

async function runCommand(line: CommandLine): Promise<void> {
  if (line.command === 'schema') {
    const { runSchema } = await import('./commands/database-commands.js');
    return runSchema(line.dialect);
  }
  const config = readConfig(readPropertiesFile);
  if (line.command === 'check') {
    const { runCheck } = await import('./commands/database-commands.js');
    process.exitCode = await runCheck(config, line);
    return;
  }
  if (line.command === 'restore') {
    const { runRestore } = await import('./commands/database-commands.js');
    process.exitCode = await runRestore(config, line);
    return;
  }
  if (line.command === 'move-tags' || line.command === 'remove-database') {
    const { runMove } = await import('./commands/database-commands.js');
    return runMove(config, line);
  }
  Logger.overrideLogger(new LeafLogger(config.log));
  if (config.processes === 1) return serve(config);
  const { waitForPorts } = await import('./http/server/ports.js');
  // A signal ends this process meanwhile, unless it is process 1 of a container: it holds nothing yet.
  await waitForPorts(config, new SystemClock());
  const { supervise } = await import('./processes/supervise.js');
  return supervise(config);
}

/** A server of one process. */
async function serve(config: LeafConfig): Promise<void> {
  const { ShutdownController } = await import('./lifecycle/shutdown-controller.js');
  const { waitForPorts } = await import('./http/server/ports.js');
  const clock = new SystemClock();
  const stop = new ShutdownController(clock);
  stop.onSignals({ direct: true });
  const start = async (): Promise<LeafServer> => {
    await waitForPorts(config, clock, stop.signal);
    const { startServer } = await import('./server.js');
    return startServer(config, { signal: stop.signal });
  };
  await stop.watch(start());
}
