import { FilmClock, type FilmTime } from './film-time';
import { BitLayout, DEFAULT_LAYOUT, type Instance } from './leaf';

export interface ServerSetup {
  readonly name: string;
  /** Servers with equal addresses are twins. */
  readonly ip: string;
  /** How far its clock is ahead, in milliseconds. */
  readonly offset?: number;
  readonly otherLayout?: boolean;
}

/** 12 bits of sequence. */
const LAYOUT = new BitLayout(DEFAULT_LAYOUT);
/** 13 bits of sequence: worker 1 of it makes the IDs of workers 2 and 3 of the usual layout. */
const OTHER_LAYOUT = new BitLayout({ ...DEFAULT_LAYOUT, workerBits: 9, sequenceBits: 13 });

/** A place where one process runs at a time, with a clock and a network of its own. */
export class FilmServer {
  readonly name: string;
  readonly instance: Instance;
  readonly layout: BitLayout;
  readonly clock: FilmClock;
  paused = false;
  /** It does not reach the registry. */
  cut = false;

  constructor({ name, ip, offset = 0, otherLayout = false }: ServerSetup, time: FilmTime) {
    this.name = name;
    this.instance = { ip, port: 8080 };
    this.layout = otherLayout ? OTHER_LAYOUT : LAYOUT;
    this.clock = new FilmClock(time, offset);
  }
}

export const REGISTRY_LAYOUT = LAYOUT.fingerprint;
