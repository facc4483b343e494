import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useNarrow } from './use-narrow';
import { drawnRows } from './virtual-rows';

export interface Column<Item, Name extends string> {
  readonly name: Name;
  readonly label: string;
  readonly hint?: string;
  readonly cell: (item: Item) => JSX.Element | string;
  readonly sortable?: boolean;
}

export interface Sorting<Name extends string> {
  readonly by: Name;
  readonly descending: boolean;
}

interface VirtualTableProps<Item, Name extends string> {
  readonly label: string;
  readonly class: string;
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string;
  readonly columns: readonly Column<Item, Name>[];
  readonly rowHeight: number;
  /** Row height on phones, where each row is a card. */
  readonly narrowRowHeight: number;
  readonly sorting: Sorting<Name>;
  readonly onSort: (sorting: Sorting<Name>) => void;
  readonly sortLabel: (column: string) => string;
}

/** A table of any length that renders only the visible rows. */
export function VirtualTable<Item, Name extends string>(props: VirtualTableProps<Item, Name>): JSX.Element {
  const { items, keyOf, columns, sorting } = props;
  const table = useRef<HTMLDivElement>(null);
  const rowHeight = useNarrow() ? props.narrowRowHeight : props.rowHeight;
  const [place, setPlace] = useState({ top: 0, height: 0 });
  useLayoutEffect(() => {
    const element = table.current;
    if (element === null) return undefined;
    const measure = (): void => {
      const top = Math.floor(element.scrollTop / rowHeight) * rowHeight;
      const height = element.clientHeight;
      setPlace((known) => (known.top === top && known.height === height ? known : { top, height }));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    measure();
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, [rowHeight]);
  const { first, end } = drawnRows(items.length, rowHeight, place.top, place.height);
  return (
    <div
      ref={table}
      class={`table ${props.class}`}
      role="table"
      tabIndex={0}
      aria-label={props.label}
      aria-rowcount={items.length + 1}
    >
      <div role="rowgroup" class="table-head">
        <div role="row" aria-rowindex={1} class="row">
          {columns.map((column) => (
            <ColumnHead key={column.name} {...{ column, sorting, onSort: props.onSort, sortLabel: props.sortLabel }} />
          ))}
        </div>
      </div>
      <div role="rowgroup" class="table-body" style={{ height: `${items.length * rowHeight}px` }}>
        {items.slice(first, end).map((item, index) => (
          <div
            key={keyOf(item)}
            role="row"
            aria-rowindex={first + index + 2}
            class="row"
            style={{ transform: `translateY(${(first + index) * rowHeight}px)`, height: `${rowHeight}px` }}
          >
            {columns.map(({ name, label, cell }) => (
              <div key={name} role="cell" class={`cell cell-${name}`}>
                <span class="cell-label" aria-hidden="true">
                  {label}
                </span>
                {cell(item)}
              </div>
            ))}
          </div>
        ))}
      </div>
    </div>
  );
}

interface ColumnHeadProps<Item, Name extends string> {
  readonly column: Column<Item, Name>;
  readonly sorting: Sorting<Name>;
  readonly onSort: (sorting: Sorting<Name>) => void;
  readonly sortLabel: (column: string) => string;
}

function ColumnHead<Item, Name extends string>(props: ColumnHeadProps<Item, Name>): JSX.Element {
  const { column, sorting, onSort, sortLabel } = props;
  const { name, label, hint, sortable = true } = column;
  const sorted = sorting.by === name;
  const direction = sorting.descending ? 'descending' : 'ascending';
  return (
    <div role="columnheader" class={`cell cell-${name}`} aria-sort={sorted ? direction : undefined} title={hint}>
      {sortable ? (
        <button
          type="button"
          class="sort"
          title={sortLabel(label)}
          onClick={() => onSort({ by: name, descending: sorted ? !sorting.descending : false })}
        >
          {label}
          <span aria-hidden="true">{sorted ? (sorting.descending ? ' ▼' : ' ▲') : ''}</span>
        </button>
      ) : (
        label
      )}
    </div>
  );
}
