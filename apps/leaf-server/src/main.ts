#!/usr/bin/env node
import './compile-cache';
import 'reflect-metadata';
import { LeafError } from '@leaf/core';
import { readConfig } from './config/environment';
import { startServer } from './server';

/** This many signals end the process at once: the first asks it to stop, the second is often a mere repetition. */
const LAST_SIGNAL = 3;

async function main(): Promise<void> {
  const starting = startServer(readConfig());
  let signals = 0;
  const stop = (signal: NodeJS.Signals): void => {
    signals++;
    if (signals >= LAST_SIGNAL) process.exit(1);
    if (signals > 1) return;
    const drain = signal !== 'SIGINT';
    // Not left to the event loop: a connection that nobody answers would keep it turning.
    starting
      .then((server) => server.close({ drain }))
      .then(
        () => process.exit(),
        () => undefined,
      );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  await starting;
}

main().catch((error: unknown) => {
  const reason = error instanceof LeafError ? `${error.code}: ${error.message}` : (error as Error).stack;
  process.stderr.write(`leaf-server cannot start: ${reason}\n`);
  process.exitCode = 1;
});
