import { leaseText, WindowHolder, windowOf } from './window-holder';

const LEASE = '0123456789abcdef0123456789abcdef';
const SERVER = { ip: '10.0.0.7', port: 8080 };
const find = (leaseId: string | undefined, ip = 'billing') => windowOf({ leaseId, instance: { ip, port: 0 } });

it('A record is that of a window if its lease ID has a lease and the first timestamp', () => {
  expect(find(`${LEASE}-1700000000000`)).toEqual({ lease: LEASE, from: 1_700_000_000_000, holder: 'billing' });
  expect(find(`${LEASE}-${'9'.repeat(15)}`)).toMatchObject({ from: 999_999_999_999_999 });
  const others = [
    ...[undefined, '', LEASE, `${LEASE}-`, `${LEASE}-x`, `${LEASE}-1x`, `${LEASE}-${'9'.repeat(16)}`, `${LEASE}1-1`],
    ...[`0${LEASE}-1`, `${LEASE.slice(1)}-1`, `${LEASE.toUpperCase()}-1`, ` ${LEASE}-1`, `${LEASE}_1`],
  ];
  expect(others.filter((leaseId) => find(leaseId) !== undefined)).toStrictEqual([]);
});

it('Any server writes the record of a window from what the record has', () => {
  const first = new WindowHolder(LEASE, 'Zürich [eu]:8080 | 100 %', SERVER);
  const record = first.acquisition(2000, 999, 1000);
  expect(record).toMatchObject({ leaseId: leaseText(LEASE, 1001), write: 1, ceiling: 2000, free: false });
  expect(record.instance).toEqual({ ip: 'Z~c3~bcrich~20~5beu~5d~3a8080~20~7c~20100~20~25', port: 0 });
  const found = windowOf(record)!;
  expect(found).toEqual({ lease: LEASE, from: 1001, holder: 'Zürich [eu]:8080 | 100 %' });
  const second = WindowHolder.of(found, { ip: '10.0.0.8', port: 8080 });
  expect([second.record(3000), second.shared, second.server.ip]).toEqual([
    { ...record, write: 1, ceiling: 3000 },
    true,
    '10.0.0.8',
  ]);
  expect([first.newest(), second.name]).toEqual([-1, found.holder]);
});

it.each([
  ['plain', 'Host_1.example-a', 'Host_1.example-a', 'Host_1.example-a'],
  ['a tilde, and a byte below 16', '~\t', '~7e~09', '~\t'],
  ['as long as an address may be', 'x'.repeat(125), 'x'.repeat(125), 'x'.repeat(125)],
  ['longer', `${'x'.repeat(125)}y`, 'x'.repeat(125), 'x'.repeat(125)],
  ['cut off between two characters', `${'x'.repeat(120)}漢a`, 'x'.repeat(120), 'x'.repeat(120)],
])('A name that is %s', (_, name, ip, shown) => {
  const holder = new WindowHolder(LEASE, name, SERVER);
  expect([holder.instance.ip, holder.name]).toEqual([ip, shown]);
  expect(find(leaseText(LEASE, 1), ip)?.holder).toBe(shown);
});
