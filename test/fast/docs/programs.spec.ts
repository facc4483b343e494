import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../support/build';
import { blocksOf, namedBlocksOf, readPage } from '../../support/pages';
import { typeErrors } from '../../support/type-errors';

const readmes = readdirSync(join(ROOT, 'libs')).map((name) => `libs/${name}/README.md`);
const pages = ['README.md', 'migrations/README.md', ...readmes];

it('the programs of the READMEs and of docs/embedding.md compile', () => {
  const embedding = namedBlocksOf(readPage('docs/embedding.md'), 'ts');
  const programs = [...pages.flatMap((page) => blocksOf(readPage(page), 'ts')), ...embedding.values()];
  const errors = typeErrors([...programs, `${programs[0]!}\nvoid main(1);`]);
  expect(errors.pop()).toHaveLength(1);
  expect(errors.flat()).toStrictEqual([]);
  expect(errors.length).toBeGreaterThan(10);
});
