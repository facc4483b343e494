export type Cell = string | number;

/** A page with one table, everything in it escaped, and the way to the console. */
export function tablePage(
  title: string,
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
  note = '',
): string {
  const head = columns.map((column) => `<th scope="col">${escaped(column)}</th>`).join('');
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${escaped(String(cell))}</td>`).join('')}</tr>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Leaf: ${escaped(title)}</title>
<link rel="icon" href="data:,">
</head>
<body>
<p><a href="/">Console</a> ${escaped(note)}</p>
<table>
<thead><tr>${head}</tr></thead>
<tbody>
${body.join('\n')}
</tbody>
</table>
</body>
</html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
}
