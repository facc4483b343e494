import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { ROOT } from './exclusively';

export type Labels = Readonly<Record<string, string>>;

export interface Selector {
  readonly matchLabels: Labels;
}

export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Labels };
  readonly spec?: object;
}

export interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds: number;
  readonly timeoutSeconds: number;
  readonly failureThreshold: number;
}

export interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly secretKeyRef?: { readonly name: string; readonly key: string };
    readonly fieldRef?: { readonly fieldPath: string };
  };
}

interface Container {
  readonly image: string;
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly env: readonly Variable[];
  readonly resources: { readonly limits: { readonly memory: string } };
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly securityContext: object;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface PodSpec {
  readonly automountServiceAccountToken: boolean;
  readonly containers: readonly [Container];
  readonly enableServiceLinks: boolean;
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: { readonly runAsUser: number };
  readonly serviceAccountName: string;
  readonly topologySpreadConstraints: readonly { readonly labelSelector: Selector }[];
  readonly volumes?: readonly { readonly name: string }[];
}

/** A Deployment or a StatefulSet. */
export interface Workload extends KubernetesObject {
  readonly spec: {
    readonly selector: Selector;
    readonly serviceName?: string;
    readonly strategy?: { readonly rollingUpdate: { readonly maxSurge: number; readonly maxUnavailable: number } };
    readonly template: { readonly metadata: { readonly labels: Labels }; readonly spec: PodSpec };
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  };
}

/** The objects of `deploy/kubernetes/<name>.yaml`. */
export function readManifest(name: string): KubernetesObject[] {
  return objectsOf(readFileSync(join(ROOT, `deploy/kubernetes/${name}.yaml`), 'utf8'));
}

export function objectsOf(text: string): KubernetesObject[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0];
    const object = document.toJS() as KubernetesObject | null;
    return object === null ? [] : [object];
  });
}

/** The one object of a kind. */
export function only<T extends KubernetesObject>(kind: T['kind'], objects: readonly KubernetesObject[]): T {
  const [found, ...more] = objects.filter((object) => object.kind === kind);
  if (found === undefined || more.length > 0) throw new Error(`Expected one ${kind}, found ${more.length + +!!found}`);
  return found as T;
}
