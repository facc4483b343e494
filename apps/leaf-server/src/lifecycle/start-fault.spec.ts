import { constants } from 'node:os';
import { LeafError } from '@leaf-ids/core';
import { startFault } from './start-fault';

const { EMFILE, ENFILE, EACCES } = constants.errno;

describe('startFault', () => {
  it('is the code and the message of a LeafError, with the names of variables', () => {
    expect(startFault(new LeafError('LEAF_CONFIG_INVALID', 'Set another port.'))).toBe(
      'LEAF_CONFIG_INVALID: Set another port.',
    );
  });

  it('is the stack of any other error', () => {
    const bug = new TypeError('x is not a function');
    expect(startFault(bug)).toBe(bug.stack);
    expect(startFault('text')).toBe('text');
  });

  it.each([
    ['of a file', Object.assign(new Error('EMFILE: too many open files'), { errno: -EMFILE, code: 'EMFILE' })],
    ['of the whole system', Object.assign(new Error('failed'), { errno: -ENFILE })],
    ['without a code', Object.assign(new Error('uv_interface_addresses'), { errno: EMFILE, code: 'ERR_SYSTEM_ERROR' })],
    [
      'below another one',
      new LeafError('LEAF_DATABASE_UNUSABLE', 'The disk is full.', {
        cause: new Error('open', { cause: new Error('Too many open files (os error 24)') }),
      }),
    ],
  ])('names the limit of open files for an error %s', (_what, error) => {
    expect(startFault(error)).toMatch(/^LEAF_CONFIG_INVALID: .*ulimit -n/);
  });

  it('does not take other system errors for it', () => {
    const denied = Object.assign(new Error('denied'), { errno: -EACCES });
    expect(startFault(denied)).toBe(denied.stack);
  });
});
