import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../build';

export interface Stage {
  readonly name: string;
  readonly image: string;
  readonly instructions: readonly (readonly [instruction: string, rest: string])[];
}

/** The stages of deploy/docker/Dockerfile. */
export function readStages(): Stage[] {
  const lines = readFileSync(join(ROOT, 'deploy/docker/Dockerfile'), 'utf8')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n');
  const found: { name: string; image: string; instructions: [string, string][] }[] = [];
  for (const line of lines) {
    const [, instruction = '', rest = ''] = /^([A-Z]+) +(.*)$/.exec(line) ?? [];
    const [image = '', , name = ''] = rest.split(' ');
    if (instruction === 'FROM') found.push({ name, image, instructions: [] });
    else if (instruction !== '') found.at(-1)?.instructions.push([instruction, rest.replaceAll(/ +/g, ' ')]);
  }
  return found;
}

/** What follows each instruction of a kind. */
export function all(instruction: string, { instructions }: Stage): string[] {
  return instructions.filter(([name]) => name === instruction).map(([, rest]) => rest);
}
