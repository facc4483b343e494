import { MAX_ID, type NewTag } from '@leaf-ids/core';
import {
  idAt,
  INSERT_ROW,
  insertValues,
  interleaveOf,
  kindOf,
  LeafAlloc,
  positionOf,
  raised,
  shareCondition,
  toTagRow,
  writtenColumns,
} from './stored-tag';
import { numbered } from './tag-dialect';

const SHARE = { of: 3, remainder: 1, block: 10 };

/** A row as the drivers return it. */
function rowOf(columns: Partial<LeafAlloc> = {}): LeafAlloc {
  const nulls = {
    ...{ description: null, max_step: null, last_id: null, ordering: null, reset_every: null, time_zone: null },
    ...{ interleave_of: null, interleave_remainder: null, interleave_block: null, period_start: null },
    ...{ issue_limit: null, pattern: null, reissue: null, updated: null },
  };
  return Object.assign(new LeafAlloc(), { biz_tag: 'order', max_id: '11', step: 10, ...nulls, ...columns });
}
const interleaved = { interleave_of: '3', interleave_remainder: '1', interleave_block: '10' };

describe('the row of a tag', () => {
  const NAMES = /\(([^)]+)\)/.exec(INSERT_ROW)![1]!.split(', ');
  /** Column → what an INSERT gives it, without the NULLs. */
  function inserted(tag: Partial<NewTag>): object {
    const values = insertValues({ tag: 'order', step: 10, ...tag });
    const columns = NAMES.map((name, n): [string, unknown] => [name, values[n]]);
    return Object.fromEntries(columns.filter(([, value]) => value !== null));
  }
  const PLAIN = { biz_tag: 'order', max_id: 1n, step: 10, description: '' };
  const hidden = (next_id: bigint): object => ({ max_id: MAX_ID, next_id });

  it.each<[Partial<NewTag>, object]>([
    [{}, {}],
    [
      { maxId: 7n, description: 'orders', maxStep: 40, order: 'relaxed' },
      { max_id: 7n, description: 'orders', max_step: 40 },
    ],
    [{ max: 99n }, { ...hidden(1n), last_id: 99n }],
    [
      { order: 'strict', maxId: 7n },
      { ...hidden(7n), ordering: 'strict' },
    ],
    [{ reset: 'daily' }, { ...hidden(1n), reset_every: 'daily', time_zone: 'UTC', period_start: 1n }],
    [
      { reset: 'yearly', zone: 'Europe/Berlin', maxId: 5n },
      { ...hidden(5n), reset_every: 'yearly', time_zone: 'Europe/Berlin', period_start: 5n },
    ],
    [
      { order: 'gapless', maxId: 7n, pattern: '{number}', reissue: true },
      { ...hidden(MAX_ID), ordering: 'gapless', period_start: 7n, pattern: '{number}', reissue: 1 },
    ],
    [
      { order: 'gapless', reissue: false },
      { ...hidden(MAX_ID), ordering: 'gapless', period_start: 1n, reissue: 0 },
    ],
    [{ interleave: SHARE }, { ...hidden(1n), interleave_of: 3, interleave_remainder: 1, interleave_block: 10 }],
  ])('is inserted with the settings %# of a tag', (tag, columns) => {
    expect(inserted(tag)).toEqual({ ...PLAIN, ...columns });
  });

  it('has a parameter for each column, and no empty description', () => {
    const [, given] = /VALUES \((.*)\)$/.exec(INSERT_ROW)!;
    const parameters = given!.split(/, (?!''\))/);
    expect(parameters).toHaveLength(NAMES.length);
    expect(parameters[NAMES.indexOf('description')]).toBe("NULLIF(?, '')");
    expect(new Set(parameters)).toEqual(new Set(['?', "NULLIF(?, '')"]));
  });

  it('is copied with its numbers beyond 2^53 as text', () => {
    const columns = writtenColumns((column) => `TEXT(${column})`).split(', ');
    const big = ['max_id', 'last_id', 'period_start', 'next_id'];
    expect(columns).toEqual(NAMES.map((name) => (big.includes(name) ? `TEXT(${name}) AS ${name}` : name)));
  });

  it.each<[Partial<LeafAlloc>, object]>([
    [{}, {}],
    [
      { step: '20', max_step: '40', last_id: '99', description: 'orders', updated: '1700000000.4' },
      { step: 20, maxStep: 40, max: 99n, description: 'orders', updatedAt: 1_700_000_000_400 },
    ],
    [{ max_id: '9223372036854775806' }, { maxId: 2n ** 63n - 2n }],
    [
      { period_start: '5', reset_every: 'daily', time_zone: 'Europe/Berlin' },
      { maxId: 5n, reset: 'daily', zone: 'Europe/Berlin' },
    ],
    [
      { ordering: 'gapless', period_start: '5', reissue: '1' },
      { maxId: 5n, order: 'gapless', reissue: true },
    ],
    [
      { ordering: 'gapless', period_start: '5', reissue: 0, pattern: '{number}' },
      { maxId: 5n, order: 'gapless', reissue: false, pattern: '{number}' },
    ],
    [interleaved, { maxId: 41n, interleave: SHARE }],
  ])('is read from %j', (columns, expected) => {
    const plain = { tag: 'order', maxId: 11n, step: 10, updatedAt: 0 };
    const row = Object.entries(toTagRow(rowOf(columns))).filter(([, value]) => value !== undefined);
    expect(Object.fromEntries(row)).toEqual({ ...plain, order: 'relaxed', ...expected });
  });
});

describe('the kind of a tag', () => {
  it.each<[Partial<LeafAlloc>]>([
    [{ ordering: 'sideways' }],
    [{ reset_every: 'hourly' }],
    [{ reset_every: 'daily', time_zone: 'Nowhere' }],
    [{ ...interleaved, interleave_remainder: null }],
    [{ ...interleaved, interleave_block: null }],
    [{ ...interleaved, interleave_remainder: 3 }],
  ])('is refused if the row has %j', (columns) => {
    const row = rowOf(columns);
    expect(() => kindOf('order', row)).toThrow(expect.objectContaining({ code: 'LEAF_TAG_ROW_INVALID' }));
    expect(interleaveOf(row)).toBeUndefined();
  });

  it('is plain though a time zone alone was left', () => {
    expect(kindOf('order', rowOf({ time_zone: 'Nowhere' }))).toBe(kindOf('other', rowOf()));
  });

  it('has the share of an interleaved tag', () => {
    expect(interleaveOf(rowOf(interleaved))).toEqual(SHARE);
    expect(interleaveOf(rowOf())).toBeUndefined();
  });
});

describe('the position of a tag', () => {
  it.each([
    [undefined, 37n, 37n],
    [SHARE, 1n, 1n],
    [SHARE, 11n, 1n],
    [SHARE, 41n, 11n],
  ])('of %j at the ID %s is %s', (interleave, id, position) => {
    expect(positionOf(id, interleave)).toBe(position);
  });

  it.each([
    [undefined, 37n, 37n],
    [SHARE, 1n, 11n],
    [SHARE, 11n, 41n],
  ])('of %j gives the ID of %s: %s', (interleave, position, id) => {
    expect(idAt(position, interleave)).toBe(id);
  });

  it.each([
    ['to a higher ID', {}, 50n, 50n],
    ['and lowered if the caller has checked it', {}, 5n, 5n],
    ['not below where its lost periods begin', { reset_every: 'daily', period_start: '1' }, 5n, 11n],
    ['with periods', { reset_every: 'daily', period_start: '1' }, 50n, 50n],
    ['to the block of an ID', interleaved, 41n, 11n],
  ])('is raised %s', (_, columns, maxId, position) => {
    const row = rowOf(columns);
    expect(raised(row, maxId, toTagRow(row))).toBe(position);
  });

  it('belongs to one share', () => {
    expect(shareCondition(undefined)).toEqual({ condition: 'interleave_of IS NULL', values: [] });
    const { condition, values } = shareCondition(SHARE);
    expect(condition.split(' AND ')).toEqual(['interleave_of = ?', 'interleave_remainder = ?', 'interleave_block = ?']);
    expect(values).toEqual([3, 1, 10]);
  });
});

describe('numbered', () => {
  it('gives each parameter a number', () => {
    expect(numbered('a = ? AND b IN (?, ?)')).toBe('a = $1 AND b IN ($2, $3)');
    expect(numbered('SELECT 1')).toBe('SELECT 1');
  });
});
