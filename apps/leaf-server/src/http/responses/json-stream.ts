import { textPages } from './text-pages';

/** Yields `head`, the comma-separated items in JSON, and `tail`, page by page. Skips items whose view is undefined. */
export function jsonPages<Item>(
  head: string,
  items: Iterable<Item>,
  toView: (item: Item) => object | undefined,
  tail: string,
): Generator<string, void, undefined> {
  const toText = (item: Item): string | undefined => {
    const view = toView(item);
    return view && JSON.stringify(view);
  };
  return textPages(head, items, toText, tail, ',');
}
