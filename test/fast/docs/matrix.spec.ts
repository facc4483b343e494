import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CELLS, HEADER, rowOf } from '../../applications/matrix/cells';

const page = readFileSync(join(__dirname, '../../applications/matrix/README.md'), 'utf8');

it('test/applications/matrix/README.md shows the applications of the matrix, and no others', () => {
  const [, table = ''] = /<!-- matrix: begin -->\n+(.*?)\n+<!-- matrix: end -->/s.exec(page) ?? [];
  const [header, , ...rows] = table.split('\n').map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((text) => text.trim()),
  );
  expect(header).toEqual(HEADER);
  expect(rows).toEqual(CELLS.map(rowOf));
});
