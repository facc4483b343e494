import { createHash } from 'node:crypto';
import { html, Html, textPages } from '../http/responses/html';

export type Cell = string | number;

export interface Table<Row> {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: Iterable<Row>;
  readonly cells: (row: Row) => readonly Cell[];
}

/** On narrow screens the table scrolls in its own frame, and the page does not. */
const STYLE = `
:root { color-scheme: light dark; font: 14px/1.4 system-ui, sans-serif; }
:root { background: light-dark(#fff, #0e1116); color: light-dark(#171b21, #e4e8ee); }
a { color: light-dark(#1f5fd6, #79aaff); }
h1 { font-size: 16px; }
body { margin: 12px; }
main { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 12px 4px 0; text-align: start; white-space: nowrap; }
th { border-bottom: 1px solid; }
@media (max-width: 760px) { table { font-size: 12px; } th, td { padding: 3px 6px 3px 0; } }
`;

/** Stands for the rows. Escaped values cannot contain it. */
const ROWS = new Html('<!-- rows -->');

/** The content security policy of the page: it loads nothing but its own style. */
export const TABLE_PAGE_CSP = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * A page with one table and a link to the console, in pieces.
 *
 * @param console the path of the console
 */
export function tablePage<Row>(
  { title, columns, rows, cells }: Table<Row>,
  note: string | Html = '',
  console = '/',
): Generator<string, void, undefined> {
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>Leaf: ${title}</title>
        <link rel="icon" href="data:," />
        ${new Html(`<style>${STYLE}</style>`)}
      </head>
      <body>
        <nav><a href="${console}">Console</a> ${note}</nav>
        <main tabindex="0" aria-label="${title}">
          <h1>${title}</h1>
          <table>
            <thead>
              <tr>
                ${columns.map((column) => html`<th scope="col">${column}</th>`)}
              </tr>
            </thead>
            <tbody>
              ${ROWS}
            </tbody>
          </table>
        </main>
      </body>
    </html>`;
  const toRow = (row: Row): string =>
    html`<tr>
      ${cells(row).map((cell) => html`<td>${cell}</td>`)}
    </tr>`.text;
  const [head = '', tail = ''] = page.text.split(ROWS.text);
  return textPages(head, rows, toRow, tail);
}
