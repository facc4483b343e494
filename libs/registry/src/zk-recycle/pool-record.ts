import type { LeaseHolder } from '@leaf/core';

/** One worker of the pool. Of a free one, the holder is the last. */
export interface PoolRecord {
  readonly state: 'notuse' | 'inuse';
  readonly ip: string;
  readonly port: string;
  readonly leaseId: string;
  /** Unix milliseconds. */
  readonly ceiling: number;
}

/** Beyond it there is no date. */
const MAX_TIME = 8_640_000_000_000_000;

export function recordOf(state: PoolRecord['state'], { ip, port, leaseId }: LeaseHolder, ceiling: number): PoolRecord {
  return { state, ip, port: String(port), leaseId, ceiling };
}

/** Undefined for data that is no record. */
export function parseRecord(data: string): PoolRecord | undefined {
  let found: Partial<Record<keyof PoolRecord, unknown>>;
  try {
    found = (JSON.parse(data) ?? {}) as typeof found;
  } catch {
    return undefined;
  }
  const { state, ip, port, leaseId, ceiling } = found;
  const stated = state === 'notuse' || state === 'inuse';
  const held = [ip, port, leaseId].every((each) => typeof each === 'string');
  const timed = Number.isSafeInteger(ceiling) && (ceiling as number) >= 0 && (ceiling as number) <= MAX_TIME;
  return stated && held && timed ? (found as PoolRecord) : undefined;
}
