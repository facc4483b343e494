import { LeaseHolder } from './lease-holder';
import type { WorkerRecord } from './worker-store';

const holder = (): LeaseHolder => new LeaseHolder({ ip: '10.0.0.7', port: 8080 }, 'lease', () => -1);

it('A holder recognizes what it has sent, by number and ceiling', () => {
  const own = holder();
  const record = own.acquisition(1001, 7, 7);
  expect(own.sentAs(record)).toMatchObject({ replaced: 7 });
  expect(own.sentAs({ ...record, ceiling: 1002 })).toBeDefined();
  const others: Partial<WorkerRecord>[] = [{ ceiling: 1000 }, { ceiling: 1003 }, { write: 2 }, { leaseId: 'other' }];
  for (const other of others) expect(own.sentAs({ ...record, ...other })).toBeUndefined();
});

it('A holder forgets writes that the store has refused, and those before a confirmed one', () => {
  const own = holder();
  const [first, second, third] = [1, 2, 3].map((ceiling) => own.record(ceiling)) as [
    WorkerRecord,
    WorkerRecord,
    WorkerRecord,
  ];
  own.refused(third);
  expect([first, second, third].map((record) => own.sentAs(record) !== undefined)).toEqual([true, true, false]);
  own.confirmed(first);
  expect([first, second].map((record) => own.sentAs(record) !== undefined)).toEqual([false, true]);
});

it('A holder remembers the first and the latest of many writes without a reply', () => {
  const own = holder();
  const records = Array.from({ length: 3000 }, (_, ceiling) => own.record(ceiling));
  const known = records.filter((record) => own.sentAs(record) !== undefined).map(({ write }) => write);
  expect(known).toHaveLength(1000);
  expect([known[0], known[499], known[500], known[999]]).toEqual([1, 500, 2501, 3000]);
});
