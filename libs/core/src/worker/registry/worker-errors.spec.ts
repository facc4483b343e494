import { LeafError } from '../../errors/leaf-error';
import {
  asConflict,
  endsLease,
  leaseBusy,
  leaseLost,
  recordContested,
  timestampBeyond,
  unlessLost,
  windowCopied,
  windowLost,
  windowNotFound,
  windowsUsedUp,
} from './worker-errors';

const SECRET = '0123456789abcdef0123456789abcdef';
const error = (code: ConstructorParameters<typeof LeafError>[0]): LeafError => new LeafError(code, 'It is so.');

it('The lease of a window is a secret that no error shows', () => {
  for (const each of [windowNotFound(SECRET), windowLost(SECRET, 7), windowCopied(SECRET, 7), leaseBusy(SECRET)]) {
    expect(each.message).toContain('012345…');
    expect(each.message).not.toContain('0123456');
  }
});

it('A caller whose window has ended gets a conflict, and one that may ask again the time to wait', () => {
  expect(windowNotFound(SECRET)).toMatchObject({ code: 'LEAF_LEASE_NOT_FOUND' });
  for (const each of [windowLost(SECRET, 7), windowCopied(SECRET, 7)]) {
    expect(each).toMatchObject({ code: 'LEAF_LEASE_LOST', status: 409 });
  }
  expect(leaseBusy(SECRET)).toMatchObject({ code: 'LEAF_NOT_READY', retryAfterMs: 1000 });
  expect(recordContested(7, 'pool', 'is contested')).toMatchObject({
    ...{ code: 'LEAF_REGISTRY_UNREACHABLE', retryAfterMs: 1000 },
    message: 'The record of worker 7 in pool is contested. This server retries automatically.',
  });
  expect(timestampBeyond(6, 5)).toMatchObject({
    code: 'LEAF_BODY_INVALID',
    message: expect.stringContaining('lastTimestamp (6) is after the end of the window (5)') as string,
  });
});

it.each([
  [0, 'it may take only one worker ID'],
  [1, 'All 1 worker windows are used'],
])('A server whose %d windows are used says what to do', (most, message) => {
  expect(windowsUsedUp(most)).toMatchObject({
    ...{ code: 'LEAF_WORKERS_USED_UP', status: 409 },
    message: expect.stringContaining(message) as string,
  });
});

it('A pool without a free worker ID is a conflict for a caller, and other errors stay as they are', () => {
  const usedUp = error('LEAF_WORKERS_USED_UP');
  expect(() => asConflict(usedUp)).toThrow(
    expect.objectContaining({
      code: 'LEAF_WORKERS_USED_UP',
      status: 409,
      message: 'It is so.',
      cause: usedUp,
    }) as Error,
  );
  const away = error('LEAF_REGISTRY_UNREACHABLE');
  expect(() => asConflict(away)).toThrow(away);
});

it.each([
  ['LEAF_LEASE_LOST', true],
  ['LEAF_LAYOUT_MISMATCH', true],
  ['LEAF_REGISTRY_MISMATCH', true],
  ['LEAF_REGISTRY_UNREACHABLE', false],
  ['LEAF_NOT_READY', false],
] as const)('A report that fails with %s ends the lease: %s', (code, ends) => {
  expect(endsLease(error(code))).toBe(ends);
});

it('unlessLost accepts a lost lease, and throws any other error', () => {
  expect(() => unlessLost(error('LEAF_LEASE_LOST'))).not.toThrow();
  const away = error('LEAF_REGISTRY_UNREACHABLE');
  expect(() => unlessLost(away)).toThrow(away);
});

it.each([
  [
    'another',
    'another server has written its record. Make sure that no other server uses the address and port 10.0.0.7:80',
  ],
  ['gone', 'its record was removed'],
  ['behind', 'its record was reset to an earlier one'],
])('A lost lease says why: %s', (relation, reason) => {
  expect(leaseLost(7, 'pool', { ip: '10.0.0.7', port: 80 }, relation)).toMatchObject({
    code: 'LEAF_LEASE_LOST',
    message: expect.stringContaining(`no longer holds worker 7 of pool: ${reason}`) as string,
  });
});
