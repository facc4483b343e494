import { LeafError } from '@leaf-ids/core';
import { TagExhaustedError } from '@leaf-ids/core/internal';
import {
  type AllocRow,
  changedMeanwhile,
  exhausted,
  isExhausted,
  isUsable,
  refusalOf,
  type UsableRow,
} from './alloc-row';

const MAX = '9223372036854775807';
const LAST = '9223372036854775806';

function rowWith(columns: Partial<AllocRow> = {}): AllocRow {
  return {
    ...{ max_id: '50', valid: 1, step: 10, max_step: null, issue_limit: '100', deleted: '50', deleted_limit: '100' },
    ...{ last_id: null, ordering: null, reset_every: null, time_zone: null },
    ...{ interleave_of: null, interleave_remainder: null, interleave_block: null },
    ...columns,
  };
}
const usable = (columns?: Partial<AllocRow>): UsableRow => rowWith(columns) as UsableRow;

describe('a row of leaf_alloc', () => {
  it.each<[boolean, Partial<AllocRow>]>([
    [true, {}],
    [true, { valid: true }],
    [true, { max_id: '1', step: 1, last_id: '1' }],
    [true, { step: 2_147_483_647, last_id: LAST }],
    [false, { max_id: null }],
    [false, { max_id: '0', valid: 0 }],
    [false, { max_id: '-5', valid: false }],
    [false, { max_id: '-5' }],
    [false, { max_id: '5.5' }],
    [false, { max_id: '9.3e18' }],
    [false, { max_id: 'a5' }],
    [false, { valid: 0 }],
    [false, { valid: false }],
    [false, { valid: null }],
    [false, { step: null }],
    [false, { step: 0 }],
    [false, { step: -1 }],
    [false, { step: 2.5 }],
    [false, { step: 2_147_483_648 }],
    [false, { last_id: '0' }],
    [false, { last_id: MAX }],
    [false, { last_id: 'b' }],
  ])('is usable: %s for %j', (is, columns) => {
    expect(isUsable(rowWith(columns))).toBe(is);
  });

  it.each([
    [null, LAST, 1n],
    ['50', '50', 1n],
    ['59', '50', 10n],
  ])('with the last ID %s is exhausted after it, at %s, by %d IDs', (last_id, max_id, size) => {
    const row = usable({ last_id, max_id });
    expect([size, size + 1n].map((count) => isExhausted(row, count))).toEqual([false, true]);
  });
});

describe('why an allocation changed no row', () => {
  const refusal = (columns: Partial<AllocRow>, size?: number, others = 0): LeafError =>
    refusalOf('order', size, rowWith(columns), others);
  const invalid = (max_id: string, step: string, last_id: string): string =>
    `The row of tag "order" in leaf_alloc has max_id ${max_id}, step ${step} and last_id ${last_id}. Set max_id to a whole number of at least 1, step to one from 1 to 2147483647, and last_id to NULL or a whole number from 1 to ${LAST}.`;

  it('is that there is none, or that its periods have rows of their own', () => {
    expect(refusalOf('order', 5, undefined, 0).code).toBe('LEAF_TAG_NOT_FOUND');
    expect(refusal({ reset_every: 'daily', step: 0 }).code).toBe('LEAF_TAG_PERIODIC');
  });

  it.each<[string, Partial<AllocRow>, message: string]>([
    ['has no numbers', { max_id: null, step: null }, invalid('NULL', 'NULL', 'NULL')],
    ['has wrong numbers', { max_id: '-5', step: 0, last_id: '0' }, invalid('-5', '0', '0')],
    ['has no position', { max_id: '0', valid: 0 }, invalid('0', '10', 'NULL')],
    [
      'has lost its mark',
      { valid: 0 },
      `The row of tag "order" in leaf_alloc has the position 50 in next_id, but max_id was changed: the Java service and earlier versions could issue its IDs. Set max_id to ${MAX}, and next_id above all IDs in use.`,
    ],
  ])('is that it %s', (_, columns, message) => {
    expect(refusal(columns)).toMatchObject({ code: 'LEAF_TAG_ROW_INVALID', message });
  });

  it('is that there are several', () => {
    expect(refusal({}, undefined, 2)).toMatchObject({
      code: 'LEAF_TAG_ROW_INVALID',
      message:
        'leaf_alloc has 3 rows for the tag "order". Keep the one with the highest max_id, and make biz_tag the primary key.',
    });
  });

  it('is its end, for the size that was asked for, or its step', () => {
    expect(refusal({ last_id: '58' })).toEqual(exhausted('order', 50n, 10, '58'));
    expect(refusal({ last_id: '58' }, 20)).toEqual(exhausted('order', 50n, 20, '58'));
    expect(refusal({ max_id: LAST })).toEqual(exhausted('order', BigInt(LAST), 10, undefined));
  });

  it('is a change meanwhile, otherwise', () => {
    expect(refusal({ last_id: '58' }, 9)).toEqual(changedMeanwhile('order'));
    expect(changedMeanwhile('order')).toMatchObject({
      code: 'LEAF_STORE_UNAVAILABLE',
      message: 'The row of tag "order" was changed concurrently; retry the request.',
      retryAfterMs: 1000,
    });
  });

  it('says how many IDs are left, and what to do', () => {
    const limited = exhausted('order', 50n, 10, '58');
    expect(limited).toBeInstanceOf(TagExhaustedError);
    expect(limited).toMatchObject({
      left: 9n,
      message: 'Tag "order" is at 50: 10 more IDs would exceed its last ID, 58. Raise its max, or create a new tag.',
    });
    expect(exhausted('order', BigInt(LAST), 10, undefined)).toMatchObject({
      left: 1n,
      message: `Tag "order" is at ${LAST}: 10 more IDs would exceed its last ID, ${LAST}. Create a new tag.`,
    });
  });
});
