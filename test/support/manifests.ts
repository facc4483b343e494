import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { Role } from 'kubernetes-models/rbac.authorization.k8s.io/v1/Role';
import { RoleBinding } from 'kubernetes-models/rbac.authorization.k8s.io/v1/RoleBinding';
import { Secret } from 'kubernetes-models/v1/Secret';
import { Service } from 'kubernetes-models/v1/Service';
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount';
import { PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule';
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor';
import { parseAllDocuments } from 'yaml';
import { ROOT } from './build';

export interface Manifest {
  readonly file: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Labels };
}

export type Labels = Readonly<Record<string, string>>;

export const MANIFESTS = join(ROOT, 'deploy/kubernetes');

/** Each by what it is made from, and the version that it must have. */
const MODELS: Readonly<Record<string, (manifest: never) => { validate(): void }>> = {
  'apps/v1 Deployment': (manifest) => new Deployment(manifest),
  'apps/v1 StatefulSet': (manifest) => new StatefulSet(manifest),
  'autoscaling/v2 HorizontalPodAutoscaler': (manifest) => new HorizontalPodAutoscaler(manifest),
  'monitoring.coreos.com/v1 PrometheusRule': (manifest) => new PrometheusRule(manifest),
  'monitoring.coreos.com/v1 ServiceMonitor': (manifest) => new ServiceMonitor(manifest),
  'networking.k8s.io/v1 NetworkPolicy': (manifest) => new NetworkPolicy(manifest),
  'policy/v1 PodDisruptionBudget': (manifest) => new PodDisruptionBudget(manifest),
  'rbac.authorization.k8s.io/v1 Role': (manifest) => new Role(manifest),
  'rbac.authorization.k8s.io/v1 RoleBinding': (manifest) => new RoleBinding(manifest),
  'v1 Secret': (manifest) => new Secret(manifest),
  'v1 Service': (manifest) => new Service(manifest),
  'v1 ServiceAccount': (manifest) => new ServiceAccount(manifest),
};

/** The documents of a file below deploy/kubernetes. A fault of its YAML throws. */
export function readManifests(file: string): Manifest[] {
  return parseAllDocuments(readFileSync(join(MANIFESTS, file), 'utf8')).map((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0];
    return { file, ...(document.toJS() as Omit<Manifest, 'file'>) };
  });
}

/** What `kubectl kustomize` brings together for a folder, without the patches. */
export function manifestsOf(folder: string): Manifest[] {
  return resourcesOf(join(folder, 'kustomization.yaml')).flatMap((path) =>
    existsSync(join(MANIFESTS, path, 'kustomization.yaml')) ? manifestsOf(path) : readManifests(path),
  );
}

/** The resources and components that a kustomization names, as paths below deploy/kubernetes. */
export function resourcesOf(file: string): string[] {
  const [kustomization] = readManifests(file);
  const { resources, components = [] } = kustomization as unknown as { resources: string[]; components?: string[] };
  return [...resources, ...components].map((name) => join(dirname(file), name));
}

/** The violations of the schema of its kind: wrong and missing values, unknown fields. */
export function schemaFaults(manifest: Manifest): string[] {
  const content = Object.fromEntries(Object.entries(manifest).filter(([key]) => key !== 'file'));
  const make = MODELS[`${manifest.apiVersion} ${manifest.kind}`];
  if (make === undefined) return [`unknown kind ${manifest.kind} of ${manifest.apiVersion}`];
  const watched: Watched = new Map();
  const model = make(content as never);
  try {
    model.validate.call(watch(model, '', watched));
  } catch (error) {
    return [String(error)];
  }
  return unread(content, '', watched);
}

/** The fields that were read, by the path of their object. */
type Watched = Map<string, Set<string>>;

function watch(value: unknown, path: string, watched: Watched): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return new Proxy(value, {
    get: (target, key): unknown => {
      const field: unknown = Reflect.get(target, key);
      if (typeof key !== 'string' || !Object.hasOwn(target, key)) return field;
      const read = watched.get(path) ?? new Set();
      watched.set(path, read.add(key));
      return watch(field, `${path}/${key}`, watched);
    },
  });
}

/** A validator reads all that the schema knows. Where it reads nothing, anything is allowed. */
function unread(value: unknown, path: string, watched: Watched): string[] {
  const read = watched.get(path);
  if (typeof value !== 'object' || value === null || read === undefined) return [];
  return Object.entries(value).flatMap(([key, field]) =>
    read.has(key) ? unread(field, `${path}/${key}`, watched) : [`unknown field ${path}/${key}`],
  );
}
