import { spawnSync } from 'node:child_process';

/** Where the two sides of a measurement run: each on a core of its own, where that can be arranged. */
export interface Cores {
  readonly pinned: boolean;
  /** The command, on the servers' core. */
  server(command: readonly string[]): readonly string[];
  /** The command, on the load generator's core. */
  generator(command: readonly string[]): readonly string[];
}

export function arrangeCores(): Cores {
  const pin = (core: number, command: readonly string[]): string[] => ['taskset', '-c', String(core), ...command];
  const works = (core: number): boolean => spawnSync('taskset', ['-c', String(core), 'true']).status === 0;
  if (works(0) && works(1)) {
    return { pinned: true, server: (command) => pin(0, command), generator: (command) => pin(1, command) };
  }
  return shareCores();
}

/** The kernel places both sides. */
export function shareCores(): Cores {
  return { pinned: false, server: (command) => command, generator: (command) => command };
}
