import { html, type Html } from '../http/responses/html';
import { textPages } from '../http/responses/text-pages';

export type Cell = string | number;

export interface Table<Row> {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: Iterable<Row>;
  readonly cells: (row: Row) => readonly Cell[];
}

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
  const head = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>Leaf: ${title}</title>
        <link rel="icon" href="data:," />
      </head>
      <body>
        <p><a href="${console}">Console</a> ${note}</p>
        <table>
          <thead>
            <tr>
              ${columns.map((column) => html`<th scope="col">${column}</th>`)}
            </tr>
          </thead>
          <tbody></tbody>
        </table>
      </body>
    </html>`;
  const toRow = (row: Row): string =>
    html`<tr>
      ${cells(row).map((cell) => html`<td>${cell}</td>`)}
    </tr>`.text;
  return textPages(head.text, rows, toRow, '</tbody></table></body></html>');
}
