import type { Cores } from './cores';
import type { LoadGenerator } from './load-generator';
import type { Sandbox } from './sandbox';
import type { ServerOptions } from './server-process';

/** The load generator and the cores. */
export interface Rig {
  readonly sandbox: Sandbox;
  readonly cores: Cores;
  readonly generator: LoadGenerator;
}

/** One path of one of the servers under test. */
export interface Route {
  readonly name: string;
  readonly server: ServerOptions;
  readonly path: string;
  /** IDs per response. */
  readonly ids: number;
  /** Number of connections, if not the default. */
  readonly connections?: number;
  /** Whether its latency is also measured at a fixed rate. */
  readonly atFixedRate?: boolean;
}
