import { join } from 'node:path';
import { ROOT } from '../build';
import { exists, run } from '../servers/services';
import { requireTool } from '../tools';

const HELM_VERSION = 'v4.3.1';

/** The file of Helm, which is built from its module the first time. */
export async function helmProgram(): Promise<string> {
  const directory = join(ROOT, `.cache/go/helm-${HELM_VERSION}`);
  const file = join(directory, 'helm');
  const env = { ...process.env, GOBIN: directory };
  const install = ['install', `helm.sh/helm/v4/cmd/helm@${HELM_VERSION}`];
  if (!(await exists(file))) await run(await requireTool('go'), install, { cwd: '/', env });
  return file;
}

/** The directory of a module, in the cache of Go. */
export async function goModule(path: string, version: string): Promise<string> {
  const { stdout } = await run(await requireTool('go'), ['mod', 'download', '-json', `${path}@${version}`], {
    cwd: '/',
  });
  return (JSON.parse(stdout) as { Dir: string }).Dir;
}
