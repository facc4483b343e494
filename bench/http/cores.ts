import { spawnSync } from 'node:child_process';

/** Pins the server and the load generator to a core each, if possible. */
export interface Cores {
  readonly pinned: boolean;
  readonly description: string;
  /** The command, pinned to the core of the servers. */
  server(command: readonly string[]): readonly string[];
  /** The command, pinned to the core of the load generator. */
  generator(command: readonly string[]): readonly string[];
}

export function arrangeCores(): Cores {
  const pin = (core: number, command: readonly string[]): string[] => ['taskset', '-c', String(core), ...command];
  const works = (core: number): boolean => spawnSync('taskset', ['-c', String(core), 'true']).status === 0;
  if (works(0) && works(1)) {
    const description = 'servers on core 0, generator on core 1';
    return { pinned: true, description, server: (command) => pin(0, command), generator: (command) => pin(1, command) };
  }
  return shareCores();
}

/** Without pinning. */
export function shareCores(): Cores {
  const description = 'servers and generator share all cores';
  return { pinned: false, description, server: (command) => command, generator: (command) => command };
}
