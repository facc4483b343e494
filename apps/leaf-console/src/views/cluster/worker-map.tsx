import type { JSX } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import { useClusterMessages } from '../../i18n/cluster/messages';
import { COLUMNS, type Square, squareAfter } from './worker-squares';

/** Every fourth row has a number. */
const NUMBERED_ROWS = 4;

interface WorkerMapProps {
  readonly label: string;
  readonly squares: readonly Square[];
  /** The worker ID of this server, which has a frame. */
  readonly own: number | undefined;
  readonly describe: (square: Square) => string;
}

/** A square for each worker ID. The line below describes the square under the pointer or with the focus. */
export function WorkerMap({ label, squares, own, describe }: WorkerMapProps): JSX.Element {
  const c = useClusterMessages();
  const grid = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(own ?? 0);
  const [shown, setShown] = useState<number | undefined>(undefined);
  const square = shown === undefined ? undefined : squares[shown];
  const onSquare = (event: Event, take: (workerId: number) => void): void => {
    const { target } = event;
    const id = target instanceof HTMLElement ? target.dataset.worker : undefined;
    if (id !== undefined) take(Number(id));
  };
  const move = (event: KeyboardEvent): void => {
    const to = squareAfter(event.key, active, squares.length);
    if (to === undefined) return;
    event.preventDefault();
    grid.current?.querySelector<HTMLElement>(`[data-worker="${to}"]`)?.focus();
  };
  // Moving the pointer does not draw the squares again.
  const rows = useMemo(
    () =>
      Array.from({ length: Math.ceil(squares.length / COLUMNS) }, (_, row) => (
        <div key={row} role="row" class="map-row" data-first={row % NUMBERED_ROWS === 0 ? row * COLUMNS : undefined}>
          {squares.slice(row * COLUMNS, (row + 1) * COLUMNS).map((each) => (
            <span
              key={each.workerId}
              role="gridcell"
              class={`square square-${each.kind}${each.workerId === own ? ' square-own' : ''}`}
              data-worker={each.workerId}
              tabIndex={each.workerId === active ? 0 : -1}
              aria-label={describe(each)}
            />
          ))}
        </div>
      )),
    [squares, own, active, describe],
  );
  return (
    <>
      <div
        ref={grid}
        role="grid"
        class="worker-map"
        aria-label={label}
        onKeyDown={move}
        onFocusIn={(event) =>
          onSquare(event, (workerId) => {
            setActive(workerId);
            setShown(workerId);
          })
        }
        onPointerOver={(event) => onSquare(event, setShown)}
        onPointerLeave={() => setShown(undefined)}
      >
        {rows}
      </div>
      <p class="map-words">{square === undefined ? <span class="hint">{c.pointAtSquare}</span> : describe(square)}</p>
    </>
  );
}
