import { formatInstance, type WorkerRecord } from '@leaf-ids/core';
import { parseArray } from '@leaf-ids/core/internal';

/** The parts of a Lease of `coordination.k8s.io/v1` that Leaf reads. */
export interface LeaseObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** Which Lease to write; without UID and version, a new one. */
export interface LeaseMetadata {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** Holds the data: the other fields are for people. */
const ANNOTATION = 'leaf-ids/record';

/** A Lease with `text` as its data. */
export function leaseOf(
  metadata: LeaseMetadata,
  text: string,
  spec: object = {},
): { readonly metadata: LeaseMetadata } {
  const annotations = { [ANNOTATION]: text };
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { ...metadata, annotations }, spec };
  return lease;
}

/** The data of a Lease; undefined if Leaf has not written any. */
export function textOf({ metadata }: LeaseObject): string | undefined {
  return metadata.annotations?.[ANNOTATION];
}

/** The holder and the end of its lease, as `kubectl get leases` and `kubectl describe lease` show them. */
export function specOf({ instance, ceiling, free }: WorkerRecord, now: number): object {
  const seconds = Math.max(1, Math.ceil((ceiling - now) / 1000));
  // The API wants six decimals.
  const renewTime = new Date(now).toISOString().replace('Z', '000Z');
  return free ? { renewTime } : { holderIdentity: formatInstance(instance), leaseDurationSeconds: seconds, renewTime };
}

/**
 * What a write compares. With the version alone, a write to a Lease that was deleted would create it again; the UID
 * prevents that.
 */
export function formatVersion({ metadata: { uid, resourceVersion } }: LeaseObject): string {
  return JSON.stringify([uid, resourceVersion]);
}

export function parseVersion(version: string): Required<Pick<LeaseMetadata, 'uid' | 'resourceVersion'>> {
  const [uid, resourceVersion] = parseArray(version).map(String);
  // No Lease has this UID and this version.
  return { uid: uid ?? '-', resourceVersion: resourceVersion ?? '1' };
}

/** Versions ascend. Returns 0 for a version that is not a number; callers do not compare it. */
export function revisionOf(resourceVersion: unknown): number {
  const revision = Number(resourceVersion);
  return Number.isSafeInteger(revision) ? revision : 0;
}
