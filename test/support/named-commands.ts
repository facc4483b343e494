import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './build';

/** Programs from elsewhere. */
const FOREIGN = new Set(['apt-get', 'docker', 'echo', 'gh', 'git', 'mvn', 'python']);
/** What npm itself has. */
const OF_NPM = new Set(['ci', 'install', 'pack', 'publish', 'audit']);
const SCRIPTS = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};
const { projects } = (require as (id: string) => unknown)('../../jest.config.js') as {
  readonly projects: readonly { readonly displayName: string }[];
};
const PROJECTS = new Set(projects.map(({ displayName }) => displayName));

/** What the commands of a shell script name of this repository that it does not have: files, npm scripts, Jest projects. */
export function missingIn(script: string): string[] {
  return [...new Set(script.split(/\n|&&|\|\||[;|]/).flatMap(missingInCommand))];
}

function missingInCommand(line: string): string[] {
  const words = [...line.matchAll(/"[^"]*"|'[^']*'|\S+/g)].map(([word]) => word);
  while (/^\w+=/.test(words[0] ?? '')) words.shift();
  const [program, ...rest] = words;
  if (program === undefined) return [];
  return [...missingProgram(program, rest), ...rest.filter((word) => isMissingFile(word))];
}

function missingProgram(program: string, rest: readonly string[]): string[] {
  const [first = '', second = ''] = rest;
  switch (program) {
    case 'npm': {
      if (OF_NPM.has(first)) return [];
      const script = first === 'run' ? second : first;
      return [...(script in SCRIPTS.scripts ? [] : [`npm run ${script}`]), ...missingProjects(rest)];
    }
    case 'npx':
      return [
        ...(existsSync(join(ROOT, 'node_modules/.bin', first)) ? [] : [`npx ${first}`]),
        ...missingProjects(rest),
      ];
    case 'node':
    case 'python3':
      return existsSync(join(ROOT, first)) ? [] : [first];
    default:
      if (program.includes('/')) return existsSync(join(ROOT, program)) ? [] : [program];
      return FOREIGN.has(program) ? [] : [program];
  }
}

/** The words from `--selectProjects` to the next option. */
function missingProjects(words: readonly string[]): string[] {
  const at = words.indexOf('--selectProjects');
  if (at === -1) return [];
  const after = words.slice(at + 1);
  const end = after.findIndex((word) => word.startsWith('-'));
  return after.slice(0, end === -1 ? undefined : end).filter((name) => !PROJECTS.has(name));
}

/** Whether a word is a path in this repository at which nothing is. */
export function isMissingFile(word: string): boolean {
  return /^(apps|bench|clients|deploy|docs|examples|libs|migrations|proof|scripts|test|\.ci|\.github)\/[\w./-]+$/.test(
    word,
  )
    ? !existsSync(join(ROOT, word))
    : false;
}
