import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../build';
import { type KubernetesObject, objectsOf } from '../manifests';
import { run } from '../servers/services';
import { helmProgram } from './go-modules';

export const CHART = join(ROOT, 'deploy/helm/leaf');

export type Values = Readonly<Record<string, unknown>>;

/** Renders the chart as the release `leaf`. Rejects with the message of Helm when it refuses the values. */
export async function helmTemplate(directory: string, values: Values = {}): Promise<KubernetesObject[]> {
  return objectsOf(await helm(directory, ['template', 'leaf', CHART, '--namespace', 'leaf'], values));
}

export async function helm(directory: string, words: readonly string[], values: Values = {}): Promise<string> {
  const file = join(directory, 'values.json');
  await writeFile(file, JSON.stringify(values));
  const env = { PATH: process.env.PATH, HOME: directory };
  const { stdout } = await run(await helmProgram(), [...words, '--values', file], { env });
  return stdout;
}
