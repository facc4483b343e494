import type { FilmProcess } from './world/film-process';
import type { FilmServer } from './world/film-server';
import type { FilmWorld } from './world/film-world';
import type { Issued, Window } from './world/issued';

/** Heights in pixels. */
const LABEL = 27;
const ROW = 24;
const GAP = 10;
const RECORD = 18;
/** Starts of a server that are drawn; the next start takes the row of the oldest. */
const MOST_ROWS = 2;

/** The row of one server, with one line for each of its newest processes. */
export interface Lane {
  readonly server: FilmServer;
  readonly process: FilmProcess | undefined;
  /** Top of the label, and of the first row. */
  readonly top: number;
  readonly rows: readonly Row[];
  readonly bottom: number;
}

export interface Row {
  readonly process: FilmProcess;
  /** Middle of the row. */
  readonly y: number;
  readonly windows: readonly Window[];
  readonly ids: readonly Issued[];
}

export interface Lanes {
  readonly lanes: readonly Lane[];
  /** Top of the record of each worker in the registry. */
  readonly records: readonly { readonly workerId: number; readonly y: number }[];
  readonly height: number;
  readonly rowOf: (process: FilmProcess) => Row | undefined;
}

/** Where each part of the timeline is drawn; the registry is below the servers. */
export function layOut(world: FilmWorld): Lanes {
  let top = 0;
  const lanes = world.servers.map((server): Lane => {
    const processes = world.processes.filter((process) => process.server === server);
    const shown = processes.slice(-MOST_ROWS).sort((a, b) => ((a.start - 1) % MOST_ROWS) - ((b.start - 1) % MOST_ROWS));
    const rows = shown.map((process, index) => ({
      process,
      y: top + LABEL + index * ROW + ROW / 2,
      windows: world.windows.filter((window) => window.process === process),
      ids: world.ids.filter((issued) => issued.process === process),
    }));
    const lane = { server, process: processes.at(-1), top, rows, bottom: top + LABEL + Math.max(1, rows.length) * ROW };
    top = lane.bottom + GAP;
    return lane;
  });
  const records = [...world.workers.records.keys()].map((workerId, index) => ({
    workerId,
    y: top + LABEL + index * RECORD,
  }));
  const height = top + LABEL + Math.max(1, records.length) * RECORD;
  const rowOf = (process: FilmProcess): Row | undefined =>
    lanes.flatMap(({ rows }) => rows).find((row) => row.process === process);
  return { lanes, records, height, rowOf };
}
