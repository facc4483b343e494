/** Items that are made without a pause: about a tenth of a megabyte of tags. */
const PAGE = 250;

/** `head`, the items in JSON with commas in between, and `tail`, page by page. What is undefined is left out. */
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
