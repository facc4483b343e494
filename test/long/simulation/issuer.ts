import type { Directory } from './sim-disk';

/** A moment at which the memory of a process was copied. */
export interface Fork {
  /** True milliseconds. */
  readonly at: number;
}

/** A generation that has begun to give worker IDs to newcomers after the registry lost its history. */
export interface Loss {
  /** True milliseconds at which newcomers were admitted. */
  readonly admittedAt: number;
}

/**
 * What excuses the IDs that are issued now, if they clash with those of certain others; see excuses.ts. Replaced when
 * it changes: what was issued before keeps its own.
 */
export interface Exposure {
  /** It issues up to a ceiling that only this directory knows. */
  readonly byDisk: Directory | undefined;
  /** It held when history was lost, something kept it from the registry, and it has not registered again. */
  readonly missed: Loss | undefined;
  /** Its memory was copied, or is a copy, and it has not reached the registry since. */
  readonly fork: Fork | undefined;
}

export const NOT_EXPOSED: Exposure = { byDisk: undefined, missed: undefined, fork: undefined };

/** One term: a process, and one worker ID that it holds without a break. */
export interface Issuer {
  readonly kind: 'server' | 'client' | 'java';
  /** Of the process. */
  readonly name: string;
  readonly host: number;
  /** `ip:port`. */
  readonly instance: string;
  readonly leaseId: string;
  readonly workerId: number;
  /** Unix milliseconds: it issues only above it. */
  readonly floor: number;
  /** When it was acquired, in milliseconds of the world. */
  readonly acquiredAt: number;
  /** The directory of its process. */
  readonly directory: Directory | undefined;
  /** Of the memory of a copy: the term that it goes on from, and the newest timestamp that it had used. */
  readonly continues?: { readonly issuer: Issuer; readonly timestamp: number };
  /** Unix milliseconds of its newest ID. */
  newest: number;
  exposure: Exposure;
}

/** Changes what excuses the IDs of `issuer` from now on. */
export function expose(issuer: Issuer, change: Partial<Exposure>): void {
  const { exposure } = issuer;
  const next = { ...exposure, ...change };
  const isSame = next.byDisk === exposure.byDisk && next.missed === exposure.missed && next.fork === exposure.fork;
  if (!isSame) issuer.exposure = next;
}

/** Whether `issuer` goes on with a millisecond that `other` had used in part, when its memory was copied. */
export function goesOn({ continues }: Issuer, other: Issuer, timestamp: number): boolean {
  return continues?.issuer === other && continues.timestamp === timestamp;
}

export function describeIssuer({ name, workerId }: Issuer): string {
  return `${name} as worker ${workerId}`;
}
