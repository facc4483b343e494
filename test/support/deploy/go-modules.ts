import { join } from 'node:path';
import { ROOT } from '../build';
import { exists, run } from '../servers/services';
import { requireTool } from '../tools';

const CACHE = join(ROOT, '.cache/go');

interface GoProgram {
  readonly name: string;
  readonly path: string;
  readonly version: string;
}

export const HELM: GoProgram = { name: 'helm', path: 'helm.sh/helm/v4/cmd/helm', version: 'v4.3.1' };
export const KUSTOMIZE: GoProgram = {
  name: 'kustomize',
  path: 'sigs.k8s.io/kustomize/kustomize/v5',
  version: 'v5.8.2',
};

/** The file of a program, which is built from its module the first time. */
export async function goProgram({ name, path, version }: GoProgram): Promise<string> {
  const directory = join(CACHE, `${name}-${version}`);
  const file = join(directory, name);
  const env = { ...process.env, GOBIN: directory };
  if (!(await exists(file))) await run(await requireTool('go'), ['install', `${path}@${version}`], { cwd: '/', env });
  return file;
}

/** The directory of a module, in the cache of Go. */
export async function goModule(path: string, version: string): Promise<string> {
  const { stdout } = await run(await requireTool('go'), ['mod', 'download', '-json', `${path}@${version}`], {
    cwd: '/',
  });
  return (JSON.parse(stdout) as { Dir: string }).Dir;
}
