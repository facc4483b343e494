import type { Cores } from './cores';
import type { LoadGenerator } from './load-generator';
import type { Sandbox } from './sandbox';
import type { ServerOptions } from './server-process';

/** What measures, and where. */
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
  /** IDs of an answer. */
  readonly ids: number;
  /** Of the load, if other than usual. */
  readonly connections?: number;
  /** Its latency is measured at a fixed rate, too. */
  readonly atFixedRate?: boolean;
}
