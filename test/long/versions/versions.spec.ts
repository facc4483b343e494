import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ROOT } from '../../support/build';
import { guarded } from '../../support/servers/private-server';

/** Exit code of the programs in a clone without an older revision. */
const SHALLOW = 2;
/** A build of the older version, and two pairs, on a busy machine. */
const LIMIT_MS = 1_800_000;

interface Ended {
  readonly code: number;
  readonly output: string;
}

async function run(program: string, ...args: string[]): Promise<Ended> {
  const [command = '', ...words] = await guarded([process.execPath, join(ROOT, 'test/versions', program), ...args]);
  const child = spawn(command, words, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (output += part.toString()));
  const [code] = (await once(child, 'close')) as [number];
  if (code === SHALLOW) console.warn(`${output}The data of older versions are tested by test/e2e/older-data.spec.ts.`);
  return { code, output };
}

function judge({ code, output }: Ended): void {
  if (code !== 0 && code !== SHALLOW) throw new Error(output);
}

it(
  'servers, an application and a client of two versions issue no ID twice, there and back under load',
  async () => judge(await run('run.mjs', '--minutes', '0.5', '--only', 'sqlite+local,mariadb+database')),
  LIMIT_MS,
);

it(
  'an older version and the Java service refuse tags with settings that they do not know',
  async () => judge(await run('way-back.mjs')),
  LIMIT_MS,
);
