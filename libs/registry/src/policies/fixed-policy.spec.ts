import type { StoredWorker } from '@leaf-ids/core';
import { type Choice, systemRandom } from '@leaf-ids/core/internal';
import { InMemoryWorkers, InMemoryWorkerStore } from '@leaf-ids/core/testing';
import { FixedPolicy } from './fixed-policy';

const instance = { ip: '10.0.0.7', port: 8080 };
const policy = new FixedPolicy();
const ALL = { first: 0, last: 1023 };

function stored(workerId: number): StoredWorker {
  return { workerId, version: '1', record: { instance, leaseId: 'a', write: 1, ceiling: 0, free: true } };
}

async function choices(records: readonly StoredWorker[], previous?: number): Promise<Choice[]> {
  const workers = new InMemoryWorkers();
  for (const record of records) workers.records.set(record.workerId, record);
  const found: Choice[] = [];
  const asker = { instance, leaseId: 'b', previous, workers: ALL, now: 0, clockCompared: true };
  const context = { store: new InMemoryWorkerStore(workers), ...asker, random: systemRandom };
  for await (const choice of policy.choices(context)) found.push(choice);
  return found;
}

describe('FixedPolicy', () => {
  it('takes the lowest record of the address and no other', async () => {
    expect(await choices([stored(7), stored(3)], 7)).toEqual([{ take: stored(3) }]);
  });

  it('creates the record with the number that it had, or with the next one', async () => {
    expect(await choices([], 3)).toStrictEqual([{ create: 3 }, { create: undefined }]);
    expect(await choices([])).toStrictEqual([{ create: undefined }]);
  });

  it('waits in a grace period for every ceiling to pass, and every holder to report three times', () => {
    const options = { leaseTtlMs: 1000, reportMs: 100, clockOffsetMs: 5 };
    expect([policy.graceMs(options), policy.exclusive]).toEqual([1005, true]);
    expect(policy.graceMs({ ...options, leaseTtlMs: 200 })).toBe(305);
  });

  it('counts all worker IDs up to the highest as used', () => {
    expect(policy.usage([], ALL)).toEqual({ used: 0, most: 1024 });
    expect(policy.usage([stored(7), stored(3)], ALL)).toEqual({ used: 8, most: 1024 });
    expect(policy.usage([stored(1025)], ALL)).toEqual({ used: 1024, most: 1024 });
  });
});
