import { html, type Html } from '../http/responses/html';

export type Cell = string | number;

/**
 * A page with one table and a link to the console.
 *
 * @param console the path of the console
 */
export function tablePage(
  title: string,
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
  note: string | Html = '',
  console = '/',
): string {
  const page = html`<!doctype html>
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
          <tbody>
            ${rows.map(
              (cells) =>
                html`<tr>
                  ${cells.map((cell) => html`<td>${cell}</td>`)}
                </tr>`,
            )}
          </tbody>
        </table>
      </body>
    </html>`;
  return page.text;
}
