// node test/versions/run.mjs [--from <revision>] [--minutes 20] [--only sqlite+local,mariadb+database]:
// replaces the servers of a fleet by another version and back, under load. `--write-docs` writes the table of the newest
// runs to README.md, without a run.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compile } from '../../scripts/run-typescript.mjs';
import { writeSection } from '../../scripts/write-section.mjs';
import { buildOlder, noOlderRevision, olderRevision } from './older.mjs';

const root = join(import.meta.dirname, '../..');
const compiled = join(root, 'node_modules/.cache/leaf/test/versions/run');
const results = join(root, 'node_modules/.cache/leaf-versions');
const SOURCES = [
  'test/versions',
  'test/long/chaos',
  'test/long/numbers',
  'test/long/strict',
  'test/support',
  'libs',
  'migrations',
];

const { values } = parseArgs({
  options: {
    from: { type: 'string' },
    minutes: { type: 'string' },
    only: { type: 'string' },
    'write-docs': { type: 'boolean', default: false },
  },
});
if (values['write-docs']) writeTable();
else process.exitCode = await run();

async function run() {
  const older = olderRevision(values.from) ?? noOlderRevision();
  console.log(`From ${older.commit.slice(0, 12)} (${older.reason}) to this checkout, and back, and again.`);
  await import('../../scripts/ensure-build.mjs');
  const folder = buildOlder(older.commit, console.log);
  compile(compiled, SOURCES, root);
  const options = ['minutes', 'only'].flatMap((name) => (values[name] ? [`--${name}`, values[name]] : []));
  const words = ['--older', folder, '--revision', older.commit.slice(0, 8), ...options];
  const entry = join(compiled, 'test/versions/run.js');
  return spawnSync(process.execPath, [entry, ...words], { cwd: root, stdio: 'inherit' }).status ?? 1;
}

/** The newest result of each pair. */
function writeTable() {
  const names = existsSync(results) ? readdirSync(results).filter((name) => name.endsWith('.json')) : [];
  const rows = names.map((name) => JSON.parse(readFileSync(join(results, name), 'utf8')));
  for (const { pair } of rows.filter(({ passed }) => !passed))
    console.log(`Left out, since its last run failed: ${pair}`);
  const lines = [
    '| database and registry | from | day | minutes | restarts, of these kills | calls | refused by all servers | IDs of tags | snowflake IDs | numbers | duplicates | out of order |',
    '| --- | --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |',
    ...rows.filter(({ passed }) => passed).map(line),
  ];
  writeSection('test/versions/README.md', 'versions', lines);
}

function line({ pair, revision, day, minutes, restarts, kills, calls, refusals, ids, duplicates, disorder }) {
  const figures = [calls, refusals, ids.tags, ids.snowflake, ids.numbers, duplicates.length, disorder.length];
  const cells = [pair, `\`${revision}\``, day, minutes.toFixed(1), `${restarts}, ${kills}`];
  return `| ${[...cells, ...figures.map((value) => value.toLocaleString('en-GB'))].join(' | ')} |`;
}
