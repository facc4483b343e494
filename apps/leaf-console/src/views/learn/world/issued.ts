import type { FilmProcess } from './film-process';

/** One ID that a process has issued. */
export interface Issued {
  readonly id: bigint;
  readonly process: FilmProcess;
  /** Milliseconds since the start, by the clock of the server: the time in the ID. */
  readonly timestamp: number;
  readonly workerId: number;
  readonly sequence: number;
  /** The process that had issued the same ID before. */
  readonly first: Issued | undefined;
}

/** The times that a process may use as one worker. */
export interface Window {
  readonly process: FilmProcess;
  readonly workerId: number;
  /** Milliseconds since the start, as is `ceiling`. */
  from: number;
  ceiling: number;
  /** Whether the process still has it. */
  held: boolean;
}
