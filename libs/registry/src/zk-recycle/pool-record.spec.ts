import { parseRecord, recordOf } from './pool-record';

const RECORD = { state: 'inuse', ip: '10.0.0.7', port: '8080', leaseId: 'ab12', ceiling: 1_700_000_000_000 };

describe('a record of the pool', () => {
  it('reads as it was written', () => {
    const record = recordOf('inuse', { ip: '10.0.0.7', port: 8080, leaseId: 'ab12' }, 1_700_000_000_000);
    expect(record).toEqual(RECORD);
    expect(parseRecord(JSON.stringify(record))).toEqual(RECORD);
  });

  it.each([
    '',
    'null',
    '17',
    '{"state":"inuse"',
    JSON.stringify({ ...RECORD, state: 'used' }),
    JSON.stringify({ ...RECORD, leaseId: undefined }),
    JSON.stringify({ ...RECORD, port: 8080 }),
    JSON.stringify({ ...RECORD, ceiling: '1' }),
    JSON.stringify({ ...RECORD, ceiling: -1 }),
    JSON.stringify({ ...RECORD, ceiling: Number.MAX_SAFE_INTEGER }),
  ])('is not %s', (data) => {
    expect(parseRecord(data)).toBeUndefined();
  });
});
