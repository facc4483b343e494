import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MUTATIONS } from './mutations.mjs';

const ROOT = join(__dirname, '../../../..');

it.each(MUTATIONS.flatMap(({ rule, edits }) => edits.map((edit) => ({ rule, ...edit }))))(
  'the rule "$rule" stands once in the sources',
  ({ file, find, replace }) => {
    expect(readFileSync(join(ROOT, file), 'utf8').split(find)).toHaveLength(2);
    expect(replace).not.toContain(find);
  },
);

it.each(MUTATIONS)('what proves the rule "$rule" is there', ({ prove: [tool = '', first = ''] }) => {
  const program = tool === 'jest' ? first : `test/long/${tool === 'sim' ? 'simulation' : tool}/run.mjs`;
  expect([program, existsSync(join(ROOT, program))]).toEqual([program, true]);
});
