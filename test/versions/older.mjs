// An older revision of this repository, installed and built once in `.cache/leaf-versions`.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
/** Not inside node_modules, where the bundler compiles no decorators. */
const CACHE = join(root, '.cache/leaf-versions');
const LOCK = 'package-lock.json';

/**
 * The revision that servers are upgraded from, and why it is this one: the named one, else the last release, else what
 * the main branch of the remote has, else the last one with an earlier schema of the tables.
 *
 * @param {string | undefined} named
 * @returns {{ commit: string, reason: string } | undefined} undefined if this clone does not have such a commit
 */
export function olderRevision(named) {
  if (named !== undefined) {
    const commit = commitOf(named);
    if (commit === undefined)
      throw new Error(`Unknown git revision ${named}. In a shallow clone, run git fetch first.`);
    return { commit, reason: named };
  }
  const tag = git('describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', 'HEAD^');
  const schema = git('log', '-1', '--format=%H', '--diff-filter=A', '--', 'migrations/*-*.ts');
  const candidates = [
    [tag, `the last release, ${tag}`],
    ['origin/main', 'origin/main'],
    [schema && `${schema}^`, `the parent of ${schema?.slice(0, 8)}, which added the newest migration`],
  ];
  const head = commitOf('HEAD');
  for (const [name, reason] of candidates) {
    const commit = name && commitOf(name);
    if (commit && commit !== head) return { commit, reason };
  }
  return undefined;
}

/** Ends the program; tests know the exit code. */
export function noOlderRevision() {
  console.log('This clone has no older revision, or is shallow. Run git fetch --unshallow, or name one with --from.');
  process.exit(2);
}

/**
 * @param {string} commit
 * @param {(line: string) => void} say
 * @returns {string} the folder of the built revision
 */
export function buildOlder(commit, say) {
  const built = join(CACHE, commit.slice(0, 12));
  const hasPackages = (folder) => readFileSync(join(folder, LOCK), 'utf8') === readFileSync(join(root, LOCK), 'utf8');
  // The packages of this checkout may be others by now.
  const isLinked = existsSync(built) && lstatSync(join(built, 'node_modules')).isSymbolicLink();
  if (isLinked && !hasPackages(built)) rmSync(built, { recursive: true });
  if (existsSync(built)) return built;
  // Of this process alone: another one may build the same revision.
  const folder = `${built}-${process.pid}`;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(folder, { recursive: true });
  const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 2 ** 30 });
  must(spawnSync('tar', ['-x', '-C', folder], { input: archive, stdio: ['pipe', 'inherit', 'inherit'] }), 'tar');
  if (hasPackages(folder)) {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  } else {
    say(`${commit.slice(0, 8)} has other packages; running npm ci, which takes minutes …`);
    npm(folder, 'ci', '--no-audit', '--no-fund', '--loglevel=error');
  }
  say(`Building ${commit.slice(0, 8)} …`);
  npm(folder, 'run', '--silent', 'build');
  if (!existsSync(built)) renameSync(folder, built);
  return built;
}

function npm(cwd, ...words) {
  must(spawnSync('npm', words, { cwd, stdio: ['ignore', 'ignore', 'inherit'] }), `npm ${words.join(' ')}`);
}

function must({ status, error }, name) {
  if (status !== 0) throw new Error(`${name} failed: ${error?.message ?? `exit code ${status}`}`);
}

/** Undefined if git does not know the revision, as in a shallow clone. */
function commitOf(revision) {
  return git('rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`);
}

/** Undefined if it fails. */
function git(...words) {
  const { status, stdout } = spawnSync('git', words, { cwd: root, encoding: 'utf8' });
  return status === 0 && stdout.trim() !== '' ? stdout.trim() : undefined;
}
