import type { WorkerRecord } from '@leaf-ids/core';
import { leaseText, storedWorker, versionOf, workerOf, type WorkerRow } from './worker-row';

const RECORD: WorkerRecord = {
  ...{ instance: { ip: '10.0.0.7', port: 8080 }, leaseId: 'a' },
  ...{ write: 3, ceiling: 1_700_000_000_000, free: false },
};
const ROW: WorkerRow = {
  ...{ origin: 'here', id: 7, ip_port: '10.0.0.7:8080' },
  ...{ max_timestamp: 1_700_000_000_000, lease_id: 'a.3' },
};

describe('the row of a worker', () => {
  it.each<[string | null, Partial<WorkerRecord>]>([
    ['a.3', {}],
    ['a.3.free', { free: true }],
    ['a', { write: 0 }],
    ['a.0.free', { write: 0, free: true }],
    [null, { write: 0, leaseId: undefined }],
    ['.3', { leaseId: undefined }],
    ['.123456789012345.free', { leaseId: undefined, write: 123_456_789_012_345, free: true }],
  ])('has the lease %j for %j', (text, fields) => {
    const record = { ...RECORD, ...fields };
    expect(leaseText(record)).toBe(text);
    expect(workerOf({ ...ROW, lease_id: text })).toEqual({
      ...{ workerId: 7, record },
      version: `${text ?? ''}|10.0.0.7:8080|1700000000000|here`,
    });
  });

  it.each<[Partial<WorkerRow>, object]>([
    [
      { id: '7', max_timestamp: '5' },
      { workerId: 7, record: { ceiling: 5 } },
    ],
    [{ max_timestamp: null }, { record: { ceiling: 0 } }],
    [
      { id: 0, max_timestamp: 0 },
      { workerId: 0, record: { ceiling: 0 } },
    ],
    [{ ip_port: '[2001:db8::1]:80' }, { record: { instance: { ip: '2001:db8::1', port: 80 } } }],
    [{ ip_port: '2001:db8::1:80' }, { record: { instance: { ip: '2001:db8::1', port: 80 } } }],
    [{ ip_port: 'host:65535' }, { record: { instance: { ip: 'host', port: 65_535 } } }],
  ])('with %j is read', (fields, worker) => {
    expect(workerOf({ ...ROW, ...fields })).toMatchObject(worker);
  });

  it.each<Partial<WorkerRow>>([
    { id: -1 },
    { id: 1.5 },
    { id: 'x' },
    { max_timestamp: -1 },
    { max_timestamp: 'x' },
    { max_timestamp: 0.5 },
    { lease_id: 'a.3.used' },
    { lease_id: 'a.x' },
    { lease_id: 'a.' },
    { lease_id: 'a.1234567890123456' },
    { lease_id: 'a|b' },
    { lease_id: 'a.3.free.x' },
    { ip_port: 'host' },
    { ip_port: ':80' },
    { ip_port: 'host:' },
    { ip_port: 'host:123456' },
    { ip_port: 'host:80x' },
    { ip_port: 'ho|st:80' },
    { ip_port: '' },
  ])('with %j cannot be read', (fields) => {
    expect(workerOf({ ...ROW, ...fields })).toBeUndefined();
  });

  it('has a version that names its origin, whatever that contains', () => {
    const record = { ...RECORD, instance: { ip: '2001:db8::1', port: 80 } };
    for (const origin of ['here', 'a|b', '']) {
      const stored = storedWorker(7, record, origin);
      expect(stored).toMatchObject({ workerId: 7, record });
      expect(versionOf(stored)).toEqual({ origin, lease: 'a.3', name: '[2001:db8::1]:80' });
      expect(workerOf({ ...ROW, origin, ip_port: '[2001:db8::1]:80' })).toEqual(stored);
    }
    const ofJava = { ...record, leaseId: undefined, write: 0 };
    expect(versionOf(storedWorker(7, ofJava, 'here')).lease).toBe('');
  });

  it('has another version after every write', () => {
    const changes = [{}, { write: 4 }, { free: true }, { ceiling: 1 }, { leaseId: 'b' }];
    const versions = changes.map((fields) => storedWorker(7, { ...RECORD, ...fields }, 'here').version);
    expect(new Set(versions).size).toBe(changes.length);
  });
});
