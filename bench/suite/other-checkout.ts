import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Runner } from './runner';

/** Ignored by other tools. Not inside node_modules, where the bundler compiles no decorators. */
const FOLDER = '.cache/leaf-compare';

/** Another revision of this repository in a git worktree, which is removed when this process exits. */
export class OtherCheckout {
  private constructor(
    readonly folder: string,
    readonly commit: string,
  ) {
    process.once('exit', () => this.remove());
  }

  /** @throws Error if git does not know the revision */
  static add(revision: string): OtherCheckout {
    const commit = commitOf(revision);
    const parent = resolve(FOLDER);
    mkdirSync(parent, { recursive: true });
    removeLeftBehind(parent);
    const checkout = new OtherCheckout(join(parent, String(process.pid)), commit);
    git('worktree', 'add', '--quiet', '--detach', checkout.folder, commit);
    return checkout;
  }

  /** Installs the packages and runs `npm run build`. */
  async build(runner: Runner): Promise<void> {
    const { folder, commit } = this;
    const lock = 'package-lock.json';
    if (readFileSync(join(folder, lock), 'utf8') === readFileSync(lock, 'utf8')) {
      console.error(`${commit.slice(0, 10)} has the same packages; using those of this checkout.`);
      symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
    } else {
      console.error(`${commit.slice(0, 10)} has different packages; running npm ci, which takes minutes …`);
      await this.must(runner, ['npm', 'ci', '--no-audit', '--no-fund']);
    }
    console.error(`Building ${commit.slice(0, 10)} …`);
    await this.must(runner, ['npm', 'run', '--silent', 'build']);
  }

  /** Also removes an incomplete worktree. */
  remove(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
    spawnSync('git', ['worktree', 'prune']);
  }

  private async must(runner: Runner, command: readonly string[]): Promise<void> {
    const code = await runner.run(command, { cwd: this.folder, shown: false });
    if (code !== 0) throw new Error(`${command.join(' ')} in ${this.folder} exited with ${code}.`);
  }
}

function commitOf(revision: string): string {
  try {
    return git('rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`);
  } catch {
    throw new Error(`Unknown git revision ${revision}. Run "git log --oneline" to list revisions.`);
  }
}

/** Removes worktrees of killed processes. */
function removeLeftBehind(parent: string): void {
  for (const name of readdirSync(parent)) {
    if (isAlive(Number(name))) continue;
    rmSync(join(parent, name), { recursive: true, force: true });
  }
  spawnSync('git', ['worktree', 'prune']);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

function git(...words: readonly string[]): string {
  return execFileSync('git', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
}
