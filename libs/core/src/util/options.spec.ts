import {
  accepted,
  anyText,
  assertCount,
  assertOptions,
  bigint,
  both,
  callback,
  exactlyOne,
  flag,
  fraction,
  having,
  InvalidValueError,
  list,
  milliseconds,
  object,
  oneOf,
  record,
  refuseFaults,
  required,
  rule,
  type Rule,
  text,
  textOr,
  that,
  whole,
  withDefaults,
  nearestName,
} from './options';

const NESTED = object({ minSize: whole(1), maxSize: whole(1) });

describe('a rule', () => {
  it.each<[Rule, unknown]>([
    [whole(0), 0],
    [whole(1, 10), 10],
    [milliseconds(0), 2_147_483_647],
    [fraction(0.001, 1), 0.5],
    [flag, false],
    [text, 'a'],
    [anyText, ''],
    [bigint, 0n],
    [callback, () => undefined],
    [oneOf('a', 'b'), 'b'],
    [having('then', 'a promise'), Promise.resolve()],
    [list(text), []],
    [list(whole(1)), [1, 2]],
    [record(whole(0)), { any: 0, name: 1 }],
    [NESTED, {}],
    [NESTED, { minSize: 1, maxSize: undefined }],
    [both(text, oneOf('a')), 'a'],
    [accepted(String), 'a'],
    [required(text), 'a'],
  ])('takes a value that fits (%#)', (each, value) => {
    expect(each(value, 'it')).toStrictEqual([]);
  });

  it.each<[Rule, unknown, string | string[]]>([
    [whole(0), NaN, 'it must be a whole number of 0 or more, not NaN'],
    [whole(0), -1, 'it must be a whole number of 0 or more, not -1'],
    [whole(0), 1.5, 'it must be a whole number of 0 or more, not 1.5'],
    [whole(0), '5', 'it must be a whole number of 0 or more, not "5"'],
    [whole(0), null, 'it must be a whole number of 0 or more, not null'],
    [whole(0), 5n, 'it must be a whole number of 0 or more, not 5'],
    [whole(0), Infinity, 'it must be a whole number of 0 or more, not Infinity'],
    [whole(0), 2 ** 53, 'it must be a whole number of 0 or more, not 9007199254740992'],
    [whole(1, 10), 11, 'it must be a whole number from 1 to 10, not 11'],
    [milliseconds(1), 2 ** 31, 'it must be a whole number from 1 to 2147483647, not 2147483648'],
    [fraction(0.001, 1), 7, 'it must be a number from 0.001 to 1, not 7'],
    [fraction(0.001, 1), '0.5', 'it must be a number from 0.001 to 1, not "0.5"'],
    [flag, 'yes', 'it must be true or false, not "yes"'],
    [text, '', 'it must be a string that is not empty, not ""'],
    [text, ['a'], 'it must be a string that is not empty, not an array'],
    [bigint, 1, 'it must be a bigint such as 1n, not 1'],
    [callback, {}, 'it must be a function, not an object'],
    [callback, 'mysql://leaf:secret@db/leaf', 'it must be a function, not "mysql://…"'],
    [callback, 'leaf:secret@db', 'it must be a function, not "…@db"'],
    [oneOf('a', 'b'), 'c', 'it must be "a" or "b", not "c"'],
    [oneOf('a', 'b', 'c'), 1, 'it must be "a", "b" or "c", not 1'],
    [having('then', 'a promise'), () => undefined, 'it must be a promise, not a function'],
    [having('then', 'a promise'), {}, 'it must be a promise, not an object'],
    [list(text), 'order', 'it must be an array, not "order"'],
    [list(text), ['a', 5, undefined], ['it[1] must be a string that is not empty, not 5', 'it[2] is required']],
    [record(whole(0)), ['a'], 'it must be an object, not an array'],
    [record(whole(0)), { 'a b': -1 }, 'it["a b"] must be a whole number of 0 or more, not -1'],
    [NESTED, null, 'it must be an object, not null'],
    [NESTED, { minsize: 5 }, 'it.minsize is not an option; did you mean it.minSize?'],
    [NESTED, { zone: 5 }, 'it.zone is not an option; the options are minSize, maxSize'],
    [NESTED, { minSize: 0 }, 'it.minSize must be a whole number of 1 or more, not 0'],
    [both(text, oneOf('a')), '', 'it must be a string that is not empty, not ""'],
    [textOr(oneOf('a'), flag), 'b', 'it must be "a", not "b"'],
    [textOr(oneOf('a'), flag), 5, 'it must be true or false, not 5'],
    [both(text, oneOf('a')), 'b', 'it must be "a", not "b"'],
    [required(text), undefined, 'it is required'],
    [exactlyOne('a', 'b'), {}, 'it must have exactly one of a, b'],
    [exactlyOne('a', 'b'), { a: 1, b: 2 }, 'it must have exactly one of a, b'],
  ])('names what is wrong (%#)', (each, value, faults) => {
    expect(each(value, 'it').map(({ path, fault }) => `${path} ${fault}`)).toEqual([faults].flat());
  });

  it('reports the error of a parser, and not the value', () => {
    const refuses = accepted(() => {
      throw new Error('The URL must name a host.');
    });
    expect(refuses('secret', 'it')).toEqual([{ path: 'it', fault: 'cannot be used: The URL must name a host' }]);
    const named = accepted(() => {
      throw new InvalidValueError('database URL', 'must name a host');
    });
    expect(named('secret', 'it')).toEqual([{ path: 'it', fault: 'must name a host' }]);
  });
});

describe('the options of a module', () => {
  const options = object({ waitMs: whole(0), segment: NESTED, tags: required(list(text)) });

  it('have no faults when they fit', () => {
    expect(() => assertOptions('it', options, { tags: [] })).not.toThrow();
  });

  it('are refused with every fault at once', () => {
    const message = [
      'The options of it are invalid:',
      'tag is not an option; did you mean tags?',
      'waitMs must be a whole number of 0 or more, not "abc"',
      'segment.minsize is not an option; did you mean segment.minSize?',
      'tags is required',
    ].join('\n  - ');
    expect(() => assertOptions('it', options, { tag: [], waitMs: 'abc', segment: { minsize: 1 } })).toThrow(
      expect.objectContaining({ code: 'LEAF_CONFIG_INVALID', message }),
    );
  });

  it.each([
    [undefined, 'not undefined'],
    [null, 'not null'],
    ['order', 'not "order"'],
  ])('must be an object: %j', (given, not) => {
    const message = `The options of it are invalid:\n  - they must be an object, ${not}`;
    expect(() => assertOptions('it', options, given)).toThrow(expect.objectContaining({ message }));
  });

  it('must not come from a class, whose properties a copy would lack', () => {
    class Given {
      get a(): number {
        return 1;
      }
    }
    const message = 'The options of it are invalid:\n  - a must be a property of the object itself, not of its class';
    expect(() => assertOptions('it', object({ a: whole(1) }), new Given())).toThrow(
      expect.objectContaining({ message }),
    );
  });

  it('are refused only for a fault', () => {
    expect(() => refuseFaults('it', [])).not.toThrow();
    const faults = [
      { path: 'a', fault: 'is 1' },
      { path: '', fault: 'must be 2' },
    ];
    expect(() => refuseFaults('it', faults)).toThrow('The options of it are invalid:\n  - a is 1\n  - they must be 2');
  });

  it('have their default when they are omitted or undefined', () => {
    const given: { a?: number | undefined; b?: number } = { a: undefined, b: 3 };
    expect(withDefaults({ a: 1, b: 2 }, given)).toEqual({ a: 1, b: 3 });
  });

  it('may have rules of their own', () => {
    const even = (value: unknown): boolean => Number(value) % 2 === 0;
    expect(rule('even', even)(3, 'it')).toEqual([{ path: 'it', fault: 'must be even, not 3' }]);
    expect(that('is odd', even)(3, 'it')).toEqual([{ path: 'it', fault: 'is odd' }]);
    expect(that('is odd', even)(undefined, 'it')).toStrictEqual([]);
  });
});

describe('assertCount', () => {
  it('accepts whole numbers from 1 to the maximum', () => {
    for (const count of [1, 10]) expect(() => assertCount(count, 10)).not.toThrow();
  });

  it.each([0, 11, 1.5, NaN, -1])('refuses %d', (count) => {
    expect(() => assertCount(count, 10)).toThrow(expect.objectContaining({ code: 'LEAF_SIZE_INVALID' }));
  });
});

const NAMES = ['database', 'migrate', 'tags', 'segment', 'port', 'minSize', 'maxSize'];

describe('nearestName', () => {
  it.each([
    ['tag', 'tags'],
    ['databse', 'database'],
    ['dtaabase', 'database'],
    ['prot', 'port'],
    ['sgement', 'segment'],
    ['minsize', 'minSize'],
    ['MAXSIZE', 'maxSize'],
    ['tags', 'tags'],
  ])('takes %s for %s', (misspelled, meant) => {
    expect(nearestName(misspelled, NAMES)).toBe(meant);
  });

  it.each(['', 'zone', 'host', 'log', 'url', 'timeoutMs'])('takes %j for none', (other) => {
    expect(nearestName(other, NAMES)).toBeUndefined();
  });
});
