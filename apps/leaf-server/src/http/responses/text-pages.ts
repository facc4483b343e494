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
