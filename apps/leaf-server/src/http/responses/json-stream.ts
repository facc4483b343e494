/** Items per page: about 100 KB of tags. */
const PAGE = 250;

/** Yields `head`, the comma-separated items in JSON, and `tail`, page by page. Skips items whose view is undefined. */
export function* jsonPages<Item>(
  head: string,
  items: Iterable<Item>,
  toView: (item: Item) => unknown,
  tail: string,
): Generator<string, void, undefined> {
  let text = head;
  let made = 0;
  let separator = '';
  for (const item of items) {
    const view = toView(item);
    if (view !== undefined) {
      text += separator + JSON.stringify(view);
      separator = ',';
    }
    if (++made % PAGE > 0) continue;
    yield text;
    text = '';
  }
  yield text + tail;
}
