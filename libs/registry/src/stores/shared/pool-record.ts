import type { WorkerRecord } from '@leaf-ids/core';
import { isCount, isTime, parseObject } from '@leaf-ids/core/internal';

/** The record of a pool as text: `{"state","ip","port","leaseId","ceiling","write"}`. */
export function encodePoolRecord({ instance, leaseId = '', write, ceiling, free }: WorkerRecord): string {
  const { ip, port } = instance;
  return JSON.stringify({ state: free ? 'notuse' : 'inuse', ip, port: String(port), leaseId, ceiling, write });
}

/** @returns undefined if the text is not the record of a pool */
export function decodePoolRecord(text: string): WorkerRecord | undefined {
  const { state, ip, port, leaseId, ceiling, write = 0 } = parseObject(text);
  const known = state === 'notuse' || state === 'inuse';
  if (!known || typeof ip !== 'string' || typeof port !== 'string' || typeof leaseId !== 'string') return undefined;
  if (!isTime(ceiling) || !isCount(write)) return undefined;
  const instance = { ip, port: Number(port) };
  return { instance, leaseId: leaseId === '' ? undefined : leaseId, write, ceiling, free: state === 'notuse' };
}
