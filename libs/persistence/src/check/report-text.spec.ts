import { moveText, removalText, reportText, restoreText } from './report-text';

const MOVED = [
  { tag: 'order', from: 'c', to: 'a', rows: 3 },
  { tag: 'invoice', from: 'c', to: 'b', rows: 1 },
];
const MOVED_TABLE = `TAG      FROM  TO  ROWS
order    c     a   3
invoice  c     b   1

`;

describe('the report of the databases', () => {
  const databases = [
    { name: 'a', database: 'mysql://db/leaf', state: 'ready' as const, tags: 2, deleted: 1 },
    { name: 'b', database: 'sqlite:/b', state: 'new' as const, tags: 0, deleted: 0 },
  ];

  it('says that all is well', () => {
    const tags = [{ tag: 'order', database: 'a', owner: 'a', maxId: '17', state: 'ok' as const }];
    expect(reportText({ ok: true, databases, tags, problems: [] })).toBe(`DATABASE  STATE  TAGS  DELETED  URL
a         ready  2     1        mysql://db/leaf
b         new    0     0        sqlite:/b

TAG    IN  BELONGS TO  NEXT ID  STATE
order  a   a           17       ok

Every tag is in the correct database.`);
  });

  it('lists what to fix, without the control characters of names', () => {
    const text = reportText({ ok: false, databases, tags: [], problems: ['One.', 'Two\u001b[0m.'] });
    expect(text).toMatch(/sqlite:\/b\n\n- One\.\n- Two[^\u001b]*\.$/);
  });
});

describe('the report of a removed database', () => {
  const report = { database: 'c', dryRun: false, remaining: ['a', 'b'], tags: MOVED, assigned: ['order', 'x'] };

  it('says what was moved, and what is left to do', () => {
    expect(removalText(report)).toBe(`${MOVED_TABLE}c: 2 tags were moved.
Restart the servers with a, b in the option segment.database.shards. Until then, they refuse the tags above.
Remove order, x from the option segment.database.shards.tags.`);
  });

  it('says what would be moved', () => {
    expect(removalText({ ...report, dryRun: true, tags: [], assigned: [] })).toBe(`Dry run: nothing was changed.
c: 0 tags would be moved.
After the command, restart the servers with a, b in the option segment.database.shards. Until then, they refuse the tags above.`);
  });
});

it('The report of moved tags says what was moved, or would be, if anything', () => {
  const last = 'Servers with other settings refuse moved tags until they are restarted with these.';
  expect(moveText({ dryRun: false, tags: MOVED })).toBe(`${MOVED_TABLE}2 tags were moved. ${last}`);
  expect(moveText({ dryRun: true, tags: MOVED })).toBe(
    `${MOVED_TABLE}Dry run: nothing was changed.\n2 tags would be moved. ${last}`,
  );
  expect(moveText({ dryRun: false, tags: [] })).toBe(
    'Nothing to move: no tag was found in a database that does not own it.',
  );
});

describe('the report of a restored database', () => {
  const report = { database: 'sqlite:/a', dryRun: false, gap: '1000', rows: [], deleted: 2, registry: false };

  it('lists the rows, and those that are used up', () => {
    const rows = [
      { row: 'order', before: '1', after: '1001', state: 'moved' as const },
      { row: 'small', before: '5', after: '101', max: '100', state: 'used up' as const },
      { row: 'tiny', before: '5', after: '11', max: '10', state: 'used up' as const },
    ];
    expect(restoreText({ ...report, rows, registry: true })).toBe(`ROW    BACKUP  NEXT ID  MAX  STATE
order  1       1001     -    moved
small  5       101      100  used up
tiny   5       11       10   used up

sqlite:/a: 3 rows and 2 records of deleted tags were moved by at least 1000 IDs.
Its worker registry has lost its history: servers wait up to 15 s once before they assign IDs.
Used up: small, tiny. Raise max of the tag; or, if you know the highest ID that was issued, load the backup again and run this command with --issued <tag>=<id>.`);
  });

  it('says what would be moved', () => {
    expect(restoreText({ ...report, dryRun: true })).toBe(`Dry run: nothing was changed.
sqlite:/a: 0 rows and 2 records of deleted tags would be moved by at least 1000 IDs.`);
  });
});
