import { runLeaf } from '../../libs/cli/src/leaf';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the command `leaf` in this process. It sees only these variables. */
export async function leaf(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  const written = { out: '', err: '' };
  const terminal = {
    out: (text: string) => (written.out += text),
    err: (text: string) => (written.err += text),
  };
  return { code: await runLeaf(args, { terminal, env, version: '1.2.3' }), ...written };
}

/** The value that a command prints with `--json`; throws if it fails or writes to standard error. */
export async function leafJson<T>(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<T> {
  const { code, out, err } = await leaf([...args, '--json'], env);
  if (code !== 0 || err !== '') throw new Error(`leaf ${args.join(' ')}: exit code ${code}: ${err}`);
  return JSON.parse(out) as T;
}
