import { createHash } from 'node:crypto';
import { PAGE } from '../http/responses/html';
import { type Cell, type Table, TABLE_PAGE_CSP, tablePage } from './table-page';

function table(title: string, columns: string[], rows: Cell[][]): Table<Cell[]> {
  return { title, columns, rows, cells: (row) => row };
}

describe('tablePage', () => {
  it('escapes every value', () => {
    const evil = `<script>alert("1")</script>&'`;
    const page = [...tablePage(table(evil, [evil], [[evil, 7]]), evil)].join('');
    expect(page).not.toContain('<script');
    expect(page.split('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;')).toHaveLength(7);
    expect(page).toContain('<td>7</td>');
  });

  it('has the rows in its table', () => {
    const page = [...tablePage(table('db', ['row'], [[1], [2]]))].join('').replace(/\s+/g, '');
    expect(page).toContain('<tbody><tr><td>1</td></tr><tr><td>2</td></tr></tbody></table>');
    expect(page.match(/<\/html>/g)).toHaveLength(1);
  });

  it('has a style that its content security policy allows', () => {
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec([...tablePage(table('db', [], []))].join('')) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    expect(TABLE_PAGE_CSP).toContain(`style-src 'sha256-${hash}'`);
  });

  it('links to the console', () => {
    expect([...tablePage(table('db', [], []))].join('')).toContain('<a href="/">');
  });

  it('makes the rows piece by piece', () => {
    const rows = Array.from({ length: 3 * PAGE }, (_, row) => [row]);
    const pieces = [...tablePage(table('db', ['row'], rows))];
    expect(pieces.length).toBeGreaterThanOrEqual(3);
    for (const piece of pieces) expect((piece.match(/<tr>/g) ?? []).length).toBeLessThanOrEqual(PAGE + 1);
    expect(pieces.join('').match(/<td>/g)).toHaveLength(rows.length);
  });
});
