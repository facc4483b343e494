// node scripts/release.mjs <version> [--dry-run]: sets the version in all manifests, the address of the repository in those
// of the packages and links to it in their READMEs, and the release date in CHANGELOG.md; commits, and makes signed tags.
// Does not push. For publishing, see docs/publishing.md.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

process.chdir(join(import.meta.dirname, '..'));
const { values, positionals } = parseArgs({ allowPositionals: true, options: { 'dry-run': { type: 'boolean' } } });
const [version = ''] = positionals;
const tag = `v${version}`;
if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) fail('Usage: node scripts/release.mjs <version> [--dry-run]');
if (run('git', 'status', '--porcelain') !== '') fail('There are uncommitted changes. Commit them first.');
if (run('git', 'tag', '--list', tag) !== '') fail(`The tag ${tag} already exists. Choose another version.`);

const repository = webAddress(run('git', 'config', '--default', '', '--get', 'remote.origin.url'));
if (repository === undefined)
  fail('The git remote origin is not the address of a repository on a server. Set it: the packages name it.');
const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const changelog = readFileSync('CHANGELOG.md', 'utf8');
const heading = `## ${version} (unreleased)\n`;
const [, section] = changelog.split(heading);
if (section === undefined) fail(`CHANGELOG.md has no section "${heading.trim()}". Write it first.`);
const notes = section.split(/^## /m)[0].trim();
if (notes === '') fail(`The section "${heading.trim()}" of CHANGELOG.md is empty.`);

const edits = new Map([['CHANGELOG.md', changelog.replace(heading, `## ${version} (${today()})\n`)]]);
const manifests = run('git', 'ls-files', ':(glob)**/package.json').split('\n');
const own = new Set(manifests.map((file) => JSON.parse(readFileSync(file, 'utf8')).name));
for (const file of manifests) edit(file, (text) => described(JSON.parse(text), dirname(file)));
for (const file of run('git', 'ls-files', ':(glob)libs/*/README.md', 'migrations/README.md')
  .split('\n')
  .filter(Boolean))
  edit(file, linked);
const imageFiles = run('git', 'ls-files', 'deploy', 'docs/*.md').split('\n');
for (const file of imageFiles)
  edit(file, (text) => text.replaceAll(`leaf-server:${manifest.version}`, `leaf-server:${version}`));
for (const file of imageFiles.filter((name) => name.endsWith('/Chart.yaml')))
  edit(file, (text) => text.replaceAll(/^(version|appVersion): .*$/gm, `$1: ${version}`));

const clients = run('git', 'ls-files', 'clients').split('\n').filter(Boolean);
for (const file of clients.filter((name) => /\.(xml|toml|md)$/.test(name))) edit(file, renumbered);

process.stdout.write(`${notes}\n\nChanged:\n${[...edits.keys()].map((file) => `  ${file}\n`).join('')}`);
if (values['dry-run'] !== true) release();

function release() {
  for (const [file, text] of edits) writeFileSync(file, text);
  run('npm', 'install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund');
  run('git', 'commit', '--all', '--message', `Release ${version}`);
  const goTag = `clients/go/${tag}`;
  try {
    // Verbatim, because git treats Markdown headings as comments. The signature has to begin on a line of its own.
    run('git', 'tag', '--sign', tag, '--cleanup=verbatim', '--message', `${tag}\n\n${notes}\n`);
    // The tag that Go reads as the version of a module in a folder.
    if (clients.length > 0) run('git', 'tag', '--sign', goTag, '--message', `clients/go ${tag}`);
    run('node', 'scripts/verify-release.mjs', tag);
  } catch {
    for (const made of run('git', 'tag', '--list', tag, goTag).split('\n').filter(Boolean))
      run('git', 'tag', '--delete', made);
    run('git', 'reset', '--quiet', '--hard', 'HEAD^');
    fail(
      'The tags could not be signed with a key of .github/allowed_signers, and nothing was changed. See docs/publishing.md.',
    );
  }
  process.stdout.write(`Committed, and tagged and signed ${tag}. "git push --follow-tags" publishes it.\n`);
}

function edit(file, change) {
  const text = readFileSync(file, 'utf8');
  const changed = change(text);
  if (changed !== text) edits.set(file, changed);
}

/**
 * Examples keep their own version; their dependencies on packages of this repository are updated. The range excludes the
 * next minor release, because that may change `/internal` of a package.
 */
function described(found, folder) {
  if (found.version === manifest.version) found.version = version;
  for (const name of Object.keys(found.dependencies ?? {})) if (own.has(name)) found.dependencies[name] = `~${version}`;
  if (found.version === version && found.private !== true) {
    found.repository = { type: 'git', url: `git+${repository}.git`, directory: folder };
    found.bugs = { url: `${repository}/issues` };
    found.homepage = `${repository}/tree/main/${folder}#readme`;
  }
  return `${JSON.stringify(found, undefined, 2)}\n`;
}

/** Sets the version in the manifests and READMEs of the clients in other languages; those of other packages stay. */
function renumbered(text) {
  const before = manifest.version.replaceAll('.', '\\.');
  const maven = `io\\.github\\.leaf-ids</groupId>[\\s+]*<artifactId>[\\w-]+</artifactId>[\\s+]*<version>`;
  const places = `${maven}|<leaf\\.version>|^version = "|clients/go/v|clients/go@v`;
  return text.replaceAll(new RegExp(`(${places})${before}(?=[<"\\s])`, 'gm'), `$1${version}`);
}

/** READMEs of packages are read outside the repository: the pages that they name become links to this version. */
function linked(text) {
  const named = /\[?`((?:docs|examples)\/[\w./#-]+)`(?:\]\([^)]*\))?/g;
  return text.replaceAll(named, (_, path) => `[\`${path}\`](${repository}/blob/${tag}/${path})`);
}

/** The address of a repository for browsers; undefined for a folder of this machine. */
function webAddress(remote) {
  const address = remote.replace(/^git@([^:/]+):/, 'ssh://git@$1/');
  if (!/^(https|ssh):/.test(address)) return undefined;
  const { hostname, pathname } = new URL(address);
  return `https://${hostname}${pathname.replace(/(\.git)?\/?$/, '')}`;
}

function today() {
  return new Date().toISOString().slice(0, 10);
}

function run(program, ...args) {
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
