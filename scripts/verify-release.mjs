// node scripts/verify-release.mjs v<version> [--signers <file>]: fails unless the tags of the release are signed by a key of
// .github/allowed_signers, name one commit, and the manifests in it have that version. For a copy of the repository that you
// do not trust, name a file of keys that you got elsewhere.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const root = join(import.meta.dirname, '..');
const { values, positionals } = parseArgs({ allowPositionals: true, options: { signers: { type: 'string' } } });
const [tag = ''] = positionals;
const [, version] = /^v(\d+\.\d+\.\d+(?:-[\w.]+)?)$/.exec(tag) ?? [];
if (version === undefined) fail('Usage: node scripts/verify-release.mjs v<version> [--signers <file>]');
const signers = values.signers ?? join(root, '.github/allowed_signers');
if (!/^[^#\s]/m.test(readFileSync(signers, 'utf8'))) fail(`${signers} names no key. See "Once" in docs/publishing.md.`);

const commit = commitOf(tag);
for (const each of tagsOf(tag)) {
  if (commitOf(each) !== commit) fail(`The tags ${tag} and ${each} name different commits.`);
  assertSigned(each);
}
for (const file of manifestsOf(tag)) {
  const manifest = JSON.parse(git('show', `${tag}:${file}`));
  if (manifest.version !== version && (file === 'package.json' || manifest.private !== true))
    fail(`${file} of ${tag} has the version ${manifest.version}.`);
}
if (!git('show', `${tag}:CHANGELOG.md`).includes(`\n## ${version} (20`))
  fail(`CHANGELOG.md of ${tag} has no dated section for ${version}.`);
process.stdout.write(`${tag} is signed, and names the commit ${commit}.\n`);

/** The tag of the release, and the one that Go reads if the repository has clients. */
function tagsOf(name) {
  return git('ls-tree', '--name-only', name, 'clients') === '' ? [name] : [name, `clients/go/${name}`];
}

function manifestsOf(name) {
  const files = git('ls-tree', '-r', '--name-only', name).split('\n');
  return files.filter((file) => /^(package|(libs\/[^/]+|migrations)\/package)\.json$/.test(file));
}

function assertSigned(name) {
  try {
    git('-c', `gpg.ssh.allowedSignersFile=${signers}`, 'verify-tag', name);
  } catch (error) {
    const reason = String(error.stderr).trim().split('\n').at(-1);
    fail(`The tag ${name} is not signed by a key of ${signers}: ${reason}`);
  }
}

function commitOf(name) {
  try {
    return git('rev-parse', '--verify', '--quiet', `refs/tags/${name}^{commit}`);
  } catch {
    return fail(`Tag ${name} does not exist. Fetch it: git fetch --force origin "refs/tags/${name}:refs/tags/${name}"`);
  }
}

function git(...args) {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
