// node scripts/measure-house.mjs [revision]: the size of each part, as the table of CONTRIBUTING.md describes it.
import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const revision = process.argv[2] ?? 'HEAD';
const MAX_BYTES = 2 ** 28;
const git = (args, input) =>
  execFileSync('git', ['-C', root, ...args], { input, maxBuffer: MAX_BYTES, encoding: 'utf8' });

const tracked = git(['ls-tree', '-r', '-z', '--name-only', revision]).split('\0').filter(Boolean);
const CODE = /\.(ts|tsx|mts|mjs|cjs|js|css)$/;
const isTest = (file) => /\.spec\.tsx?$/.test(file) || file.startsWith('test/');
const within = (prefix) => (file) => file.startsWith(prefix) && CODE.test(file) && !isTest(file);
const PARTS = [
  ...[...new Set(tracked.flatMap((file) => /^libs\/[^/]+\//.exec(file) ?? []))].map((lib) => [lib, within(lib)]),
  ['apps/leaf-server/', within('apps/leaf-server/')],
  ['apps/leaf-console/', within('apps/leaf-console/')],
  ['libs + apps', (file) => within('libs/')(file) || within('apps/')(file)],
  ['tests', (file) => isTest(file) && CODE.test(file)],
  ['bench/', within('bench/')],
  ['scripts/', within('scripts/')],
];

const rows = PARTS.map(([name, belongs]) => measure(name, tracked.filter(belongs)));
console.log(
  `${revision}: ${tracked.length} tracked files, ${words()} English words in documents, ${scripts()} npm scripts`,
);
console.table(Object.fromEntries(rows.map(({ name, ...row }) => [name, row])));

function measure(name, files) {
  const texts = files.map((file) => show(file));
  const lengths = texts.map((text) => text.split('\n').length - 1).sort((a, b) => a - b);
  const lines = lengths.reduce((sum, length) => sum + length, 0);
  const perHundred = (pattern) => {
    const count = texts.reduce((sum, text) => sum + (text.match(pattern)?.length ?? 0), 0);
    return Number(((100 * count) / lines).toFixed(1));
  };
  return {
    name,
    files: files.length,
    lines,
    median: lengths[Math.floor(lengths.length / 2)] ?? 0,
    longest: lengths.at(-1) ?? 0,
    'below 30 lines': lengths.filter((length) => length < 30).length,
    folders: new Set(files.map(dirname)).size,
    'exports / 100': perHundred(/^export (?!\{|\*|type \{)/gm),
    'own imports / 100': perHundred(/^(?:import|export) .*? from '(?:\.|@leaf-ids\/)|^\} from '(?:\.|@leaf-ids\/)/gm),
  };
}

function show(file) {
  return git(['show', `${revision}:${file}`]);
}

function words() {
  const isEnglish = (file) =>
    /^(README|CONTRIBUTING)\.md$|^docs\/.*\.md$|^libs\/[^/]+\/README\.md$|^migrations\/README\.md$/.test(file) &&
    !file.startsWith('docs/zh/');
  const texts = tracked.filter(isEnglish).map(show);
  return texts.reduce((sum, text) => sum + text.split(/\s+/).filter(Boolean).length, 0);
}

function scripts() {
  return Object.keys(JSON.parse(show('package.json')).scripts).length;
}
