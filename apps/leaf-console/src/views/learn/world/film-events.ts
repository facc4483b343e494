export type FilmEventKind =
  | 'started'
  | 'waiting'
  | 'acquired'
  | 'acquire-failed'
  | 'report-failed'
  | 'registered-again'
  | 'gave-up'
  | 'lost'
  | 'refuses'
  | 'issues'
  | 'id'
  | 'crashed'
  | 'stopped'
  | 'refused-to-start';

/** @param detail an error, a tenure or an ID */
export type FilmListener<Process> = (process: Process, kind: FilmEventKind, detail: unknown) => void;

/** One line of the log. */
export interface Entry {
  /** Milliseconds since the start. */
  readonly at: number;
  /** Name of the process. */
  readonly process: string;
  readonly kind: Exclude<FilmEventKind, 'id'> | 'duplicate';
  readonly workerId: number | undefined;
  /** Code of the error, if there is one. */
  readonly code: string | undefined;
}
