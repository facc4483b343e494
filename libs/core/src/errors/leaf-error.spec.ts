import { ERROR_CATALOGUE, type LeafErrorCode } from './error-catalogue';
import { codeOf, isLeafError, LeafError, messageOf, reasonOf } from './leaf-error';

const CODES = Object.keys(ERROR_CATALOGUE) as LeafErrorCode[];

describe('LeafError', () => {
  it('takes status and title from the catalogue', () => {
    const error = new LeafError('LEAF_TAG_NOT_FOUND', 'No tag "x".');
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: 'LeafError',
      code: 'LEAF_TAG_NOT_FOUND',
      message: 'No tag "x".',
      status: 404,
      title: ERROR_CATALOGUE.LEAF_TAG_NOT_FOUND.title,
      retryable: false,
      retryAfterMs: undefined,
    });
  });

  it('keeps the cause, if there is one', () => {
    const cause = new Error('socket hang up');
    expect(new LeafError('LEAF_STORE_UNAVAILABLE', 'x', { cause }).cause).toBe(cause);
    expect('cause' in new LeafError('LEAF_STORE_UNAVAILABLE', 'x')).toBe(false);
    expect('cause' in new LeafError('LEAF_STORE_UNAVAILABLE', 'x', { retryAfterMs: 1 })).toBe(false);
  });

  it('has the time to retry', () => {
    expect(new LeafError('LEAF_NOT_READY', 'x', { retryAfterMs: 250 }).retryAfterMs).toBe(250);
  });

  it('is retryable if a later attempt may succeed without a change', () => {
    expect(CODES.filter((code) => new LeafError(code, 'x').retryable).sort()).toEqual([
      'LEAF_CLOCK_BACKWARDS',
      'LEAF_LEASE_EXPIRED',
      'LEAF_NOT_READY',
      'LEAF_OVERLOADED',
      'LEAF_QUOTA_EXCEEDED',
      'LEAF_REGISTRY_UNREACHABLE',
      'LEAF_SEGMENT_UNAVAILABLE',
      'LEAF_SERVERS_UNAVAILABLE',
      'LEAF_STORE_BACKWARDS',
      'LEAF_STORE_UNAVAILABLE',
    ]);
  });

  it('is retryable only with a status that says so', () => {
    for (const code of CODES) {
      const { retryable, status } = new LeafError(code, 'x');
      if (retryable) expect([code, status]).toEqual([code, code === 'LEAF_QUOTA_EXCEEDED' ? 429 : 503]);
    }
  });

  it('says when to retry, in whole seconds, if a retry can succeed', () => {
    const header = (code: LeafErrorCode, retryAfterMs?: number): unknown =>
      new LeafError(code, 'x', retryAfterMs === undefined ? {} : { retryAfterMs }).headers['retry-after'];
    expect(header('LEAF_NOT_READY')).toBe('1');
    expect([0, 1, 1000, 1001].map((ms) => header('LEAF_QUOTA_EXCEEDED', ms))).toEqual(['1', '1', '1', '2']);
    expect(header('LEAF_TAG_NOT_FOUND', 1000)).toBeUndefined();
  });

  it('has a status for frameworks only if clients may see it', () => {
    expect(new LeafError('LEAF_TAG_NOT_FOUND', 'x').statusCode).toBe(404);
    expect(new LeafError('LEAF_UNAUTHORIZED', 'x').statusCode).toBeUndefined();
    expect(new LeafError('LEAF_INTERNAL', 'x').statusCode).toBeUndefined();
  });

  it('hides the faults between the application and its servers from the clients of the application', () => {
    const hidden = CODES.filter((code) => !new LeafError(code, 'x').expose);
    expect(hidden.filter((code) => ERROR_CATALOGUE[code].status !== 500).sort()).toEqual([
      'LEAF_FORBIDDEN',
      'LEAF_LEASE_NOT_FOUND',
      'LEAF_SERVERS_UNAVAILABLE',
      'LEAF_TOO_MANY_FAILURES',
      'LEAF_UNAUTHORIZED',
      'LEAF_WINDOWS_DISABLED',
      'LEAF_WORKERS_USED_UP',
    ]);
  });
});

describe('ERROR_CATALOGUE', () => {
  it.each(CODES)('%s has a well-formed code, a status of a failure and a title', (code) => {
    const { status, title } = ERROR_CATALOGUE[code];
    expect(code).toMatch(/^LEAF_[A-Z_]+$/);
    expect(Number.isInteger(status) && status >= 400 && status <= 599).toBe(true);
    expect(title).toMatch(/^[A-Z]\S*( \S+)*[^.\s]$/);
  });

  it('has a distinct title for every code', () => {
    expect(new Set(CODES.map((code) => ERROR_CATALOGUE[code].title)).size).toBe(CODES.length);
  });
});

describe('messageOf', () => {
  it.each([
    [new Error('no answer'), 'no answer'],
    [new LeafError('LEAF_INTERNAL', 'broken'), 'broken'],
    ['text', 'text'],
    [undefined, 'undefined'],
    [null, 'null'],
    [42, '42'],
  ])('reads %p', (thrown, text) => {
    expect(messageOf(thrown)).toBe(text);
  });
});

describe('reasonOf', () => {
  const chain = (...messages: string[]): Error | undefined =>
    messages.reduceRight<Error | undefined>((cause, message) => new Error(message, { cause }), undefined);

  it.each<[unknown, string]>([
    [chain('no answer'), 'no answer'],
    [chain('no answer', 'socket hang up'), 'no answer; cause: socket hang up'],
    [new Error('no answer', { cause: 'a text' }), 'no answer; cause: a text'],
    [
      chain('no answer: socket hang up', 'socket hang up', 'ECONNRESET'),
      'no answer: socket hang up; cause: ECONNRESET',
    ],
    [chain('no answer: ECONNRESET', 'socket hang up', 'ECONNRESET'), 'no answer: ECONNRESET; cause: socket hang up'],
    [chain('1', '2', '3', '4', '5', '6'), '1; cause: 2; cause: 3; cause: 4; cause: 5'],
    ['text', 'text'],
    [undefined, 'undefined'],
  ])('tells %p with what caused it, each once, five at most', (thrown, reason) => {
    expect(reasonOf(thrown)).toBe(reason);
  });
});

describe('codeOf', () => {
  it.each([
    [Object.assign(new Error('no file'), { code: 'ENOENT' }), 'ENOENT'],
    [new LeafError('LEAF_INTERNAL', 'broken'), 'LEAF_INTERNAL'],
    [{ code: 1045 }, undefined],
    [new Error('none'), undefined],
    ['text', undefined],
    [undefined, undefined],
    [null, undefined],
  ])('reads %p', (thrown, code) => {
    expect(codeOf(thrown)).toBe(code);
  });
});

describe('isLeafError', () => {
  it('recognizes errors of any copy of the package, and their codes', async () => {
    let other: unknown;
    await jest.isolateModulesAsync(async () => {
      const copy = await import('./leaf-error.js');
      other = new copy.LeafError('LEAF_NOT_READY', 'x');
    });
    expect(other).not.toBeInstanceOf(LeafError);
    for (const error of [other, new LeafError('LEAF_NOT_READY', 'x')]) {
      expect(isLeafError(error)).toBe(true);
      expect(isLeafError(error, 'LEAF_NOT_READY')).toBe(true);
      expect(isLeafError(error, 'LEAF_OVERLOADED')).toBe(false);
    }
  });

  it.each([undefined, null, 'LEAF_NOT_READY', new Error('x'), Object.assign(new Error('x'), { code: 'ENOENT' })])(
    'is false for %p',
    (thrown) => expect(isLeafError(thrown)).toBe(false),
  );
});
