import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { ROOT } from '../build';
import { MANIFESTS, readManifests } from '../manifests';
import { run } from '../servers/services';
import { goProgram, HELM, KUSTOMIZE } from './go-modules';
import type { KubernetesObject } from './kubernetes-schemas';

export const CHART = join(ROOT, 'deploy/helm/leaf');

export type Values = Readonly<Record<string, unknown>>;

/** The folders of deploy/kubernetes that `kubectl apply -k` takes. */
export function kustomizations(): string[] {
  const files = (readdirSync(MANIFESTS, { recursive: true }) as string[]).filter(
    (file) => file.endsWith('kustomization.yaml') && readManifests(file)[0]?.kind === 'Kustomization',
  );
  return files.map(dirname).sort();
}

export async function kustomize(folder: string): Promise<KubernetesObject[]> {
  const { stdout } = await run(await goProgram(KUSTOMIZE), ['build', join(MANIFESTS, folder)]);
  return objectsOf(stdout);
}

/** Renders the chart as the release `leaf`. Rejects with the message of Helm when it refuses the values. */
export async function helmTemplate(directory: string, values: Values = {}): Promise<KubernetesObject[]> {
  return objectsOf(await helm(directory, ['template', 'leaf', CHART, '--namespace', 'leaf'], values));
}

export async function helm(directory: string, words: readonly string[], values: Values = {}): Promise<string> {
  const file = join(directory, 'values.json');
  await writeFile(file, JSON.stringify(values));
  const env = { PATH: process.env.PATH, HOME: directory };
  const { stdout } = await run(await goProgram(HELM), [...words, '--values', file], { env });
  return stdout;
}

export function objectsOf(text: string): KubernetesObject[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0];
    const object = document.toJS() as KubernetesObject | null;
    return object === null ? [] : [object];
  });
}
