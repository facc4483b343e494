import { LeaseHolder } from './lease-holder';
import { holdersOf, mayBeUsed, relationOf } from './record-relation';
import type { FileRecord } from './worker-file';
import type { WorkerRecord } from './worker-store';

const NOW = 1_700_000_000_000;
const instance = { ip: '10.0.0.7', port: 8080 };
const held: WorkerRecord = { instance, leaseId: 'own', write: 3, ceiling: NOW, free: false };

describe('mayBeUsed', () => {
  const OFFSET = 250;

  it.each([
    ['a lease up to its ceiling, by a clock that is behind', held, NOW + OFFSET],
    ['a released record up to its ceiling', { ...held, free: true }, NOW],
    ['a Java server for ten of its reports', { ...held, leaseId: undefined }, NOW + 30_000 + OFFSET],
  ])('%s', (_, record, last) => {
    expect([last - 1, last, last + 1].map((now) => mayBeUsed(record, now, OFFSET))).toEqual([true, true, false]);
  });
});

describe('holdersOf', () => {
  const at = (record: WorkerRecord) => holdersOf([{ workerId: 7, version: '', record }], NOW);

  it('lists the servers whose ceiling has not passed', () => {
    expect(at({ ...held, ceiling: NOW + 1 })).toEqual([{ instance: '10.0.0.7:8080', workerId: 7 }]);
    expect(at(held)).toStrictEqual([]);
    expect(at({ ...held, ceiling: NOW + 1, free: true })).toStrictEqual([]);
  });

  it('lists no window', () => {
    expect(at({ ...held, ceiling: NOW + 1, leaseId: `${'0'.repeat(32)}-1` })).toStrictEqual([]);
  });
});

describe('relationOf', () => {
  const before: FileRecord = {
    ...{ instance: '10.0.0.7:8080', registry: 'memory', registryId: 'r', generation: 1, layout: 'l', workerId: 7 },
    ...{ ceiling: NOW, leaseId: 'previous', write: 5, attempted: 7, attempt: 'first second', state: 'held' },
  };
  const start = { confirmed: 0, confirmedCeiling: undefined, before };
  const latest = { confirmed: 3, confirmedCeiling: NOW, before: undefined };
  let holder: LeaseHolder;

  beforeEach(() => (holder = new LeaseHolder(instance, 'own', () => -1)));

  it('without a record', () => expect(relationOf(undefined, holder, latest)).toBe('gone'));

  it.each([
    ['the latest confirmed write', {}, 'ours'],
    ['that number with another ceiling: a copy of this process', { ceiling: NOW + 1 }, 'another'],
    ['an earlier write', { write: 2 }, 'behind'],
    ['a later write that this process has not sent', { write: 4 }, 'another'],
    ['another lease', { leaseId: 'other' }, 'another'],
    ['a Java server', { leaseId: undefined }, 'another'],
  ])('under our lease: %s', (_, change, relation) => {
    expect(relationOf({ ...held, ...change }, holder, latest)).toBe(relation);
  });

  it('under our lease: a later write that this process has sent', () => {
    holder.attempted = 3;
    const sent = holder.record(NOW + 1000);
    expect(relationOf(sent, holder, latest)).toBe('ours');
    expect(relationOf({ ...sent, ceiling: NOW + 2000 }, holder, latest)).toBe('another');
  });

  it('under a lease that other servers share: every later write is ours', () => {
    const shared = Object.assign(holder, { shared: true });
    expect(relationOf({ ...held, write: 9, ceiling: 1 }, shared, latest)).toBe('ours');
    expect(relationOf({ ...held, write: 2 }, shared, latest)).toBe('behind');
  });

  it.each([
    ['an attempt of an earlier start', { leaseId: 'second', write: 1 }, 'ours'],
    ['the first write in its file', { leaseId: 'previous', write: 5 }, 'ours'],
    ['the last write that it may have sent', { leaseId: 'previous', write: 9 }, 'ours'],
    ['a later write', { leaseId: 'previous', write: 10 }, 'another'],
    ['an earlier write', { leaseId: 'previous', write: 4 }, 'behind'],
    ['a lease that the file does not have', { leaseId: 'other', write: 6 }, 'another'],
    ['a Java server', { leaseId: undefined, write: 6 }, 'another'],
  ])('after a start from a file: %s', (_, change, relation) => {
    expect(relationOf({ ...held, ...change }, holder, start)).toBe(relation);
  });

  it('the file counts for the start only', () => {
    const record = { ...held, leaseId: 'previous', write: 6 };
    expect(relationOf(record, holder, { ...start, confirmed: 1 })).toBe('another');
    expect(relationOf(record, holder, { ...start, before: undefined })).toBe('another');
  });

  it('a file that names no lease does not claim the record of a Java server', () => {
    const record = { ...held, leaseId: undefined, write: 0 };
    expect(relationOf(record, holder, { ...start, before: { ...before, leaseId: '', attempt: undefined } })).toBe(
      'another',
    );
  });
});
