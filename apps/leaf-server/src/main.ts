#!/usr/bin/env node
import './compile-cache';
import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { SystemClock } from '@leaf-ids/core';
import { readConfig, startFaultLog } from './config/environment';
import type { LeafConfig } from './config/leaf-config';
import { LeafLogger } from './config/logging';
import { PROCESS_FLAG } from './cluster/process-flag';
import { readPropertiesFile } from './java-compat/properties-file';
import { reportStartFault, startFault } from './lifecycle/start-fault';

async function main(): Promise<void> {
  if (process.argv[2]?.startsWith(`${PROCESS_FLAG}=`) === true) {
    const [{ runProcess }, { startServer }] = await Promise.all([
      import('./cluster/run-process.js'),
      import('./server.js'),
    ]);
    runProcess(startServer);
    return;
  }
  if (process.argv[2] === 'schema') {
    const { runSchema } = await import('./commands/run-schema.js');
    return runSchema(process.argv.slice(3));
  }
  const config = readConfig(readPropertiesFile);
  if (process.argv[2] === 'check') {
    const { runCheck } = await import('./commands/run-check.js');
    process.exitCode = await runCheck(config, process.argv.slice(3));
    return;
  }
  if (config.processes === 1) return serve(config);
  const { supervise } = await import('./cluster/supervise.js');
  return supervise(config);
}

/** A server of one process. */
async function serve(config: LeafConfig): Promise<void> {
  const { ShutdownController } = await import('./lifecycle/shutdown-controller.js');
  Logger.overrideLogger(new LeafLogger(config.log));
  const stop = new ShutdownController(new SystemClock());
  stop.onSignals({ direct: true });
  const { startServer } = await import('./server.js');
  await stop.watch(startServer(config, { signal: stop.signal }));
}

main().catch((error: unknown) => {
  const isCommand = ['check', 'schema'].includes(process.argv[2] ?? '');
  const log = startFaultLog();
  reportStartFault(startFault(error), isCommand ? { ...log, format: 'pretty' } : log);
  process.exitCode = 1;
});
