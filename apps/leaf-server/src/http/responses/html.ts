/** Items per page: a page takes well below a millisecond. */
export const PAGE = 50;

/** Yields `head`, the texts of the items and `tail`, page by page. Skips items whose text is undefined. */
export function* textPages<Item>(
  head: string,
  items: Iterable<Item>,
  toText: (item: Item) => string | undefined,
  tail: string,
  separator = '',
): Generator<string, void, undefined> {
  let text = head;
  let made = 0;
  let between = '';
  for (const item of items) {
    const next = toText(item);
    if (next !== undefined) {
      text += between + next;
      between = separator;
    }
    if (++made % PAGE > 0) continue;
    yield text;
    text = '';
  }
  yield text + tail;
}

/** Policy of data responses: a browser loads nothing, runs nothing and frames nothing. */
export const DATA_CSP = "default-src 'none'; frame-ancestors 'none'";

/** Replaces {@link DATA_CSP} for pages with scripts: same origin only, and no inline scripts or styles. */
export const PAGE_CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Text that is already HTML. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = string | number | Html | readonly Part[];

/** Template tag that escapes every inserted value, except {@link Html}. */
export function html(literals: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(
    literals.map((literal, index) => literal + (index < parts.length ? written(parts[index]) : '')).join(''),
  );
}

function written(part: Part | undefined): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(written).join('');
  return escaped(String(part));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Replaces control characters by U+FFFD: they are invalid in HTML, and terminals interpret them. */
function escaped(text: string): string {
  return text.replace(/(?![\t\n])\p{Cc}/gu, '\ufffd').replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
}
