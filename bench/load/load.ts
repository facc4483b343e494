import { join } from 'node:path';
import type { Cores } from '../http/cores';
import type { Sandbox } from '../http/sandbox';
import type { LoadResult } from './record';

export interface Load {
  readonly port: number;
  readonly path: string;
  readonly connections: number;
  readonly perSecond: number;
  readonly seconds: number;
}

const SLACK_MS = 20_000;

/** Runs the load generator as a process; rejects if it fails. */
export async function runLoad(sandbox: Sandbox, cores: Cores, load: Load): Promise<LoadResult> {
  const command = cores.generator([process.execPath, join(__dirname, 'generator.js')]);
  const output = await sandbox.run(command, load.seconds * 1000 + SLACK_MS, `${JSON.stringify(load)}\n`);
  return JSON.parse(output) as LoadResult;
}
