import { BitLayout, DEFAULT_LAYOUT } from '@leaf-ids/core';

export const STRATEGIES = ['fixed with file', 'fixed', 'pool', 'local'] as const;
export type Strategy = (typeof STRATEGIES)[number];

/** Unix milliseconds at which every simulation starts. */
export const START = 1_700_000_000_000;

/** Timestamps in output start at 0, which makes them easier to compare. */
export function sinceStart(timestamp: number): string {
  return timestamp < START / 2 ? 'no time' : `${timestamp - START}`;
}

/** What may happen in a world. Combinations that allow known exceptions are drawn rarely. */
export interface Themes {
  /** Clocks of hosts step by seconds to hours, or run at the wrong speed. */
  readonly clocks: boolean;
  /** The registry is emptied or failed over. */
  readonly history: boolean;
  /** Data directories are copied, removed, restored. */
  readonly disks: boolean;
  /** Hosts 0 and 1 have the same `ip:port`. */
  readonly twins: boolean;
  /** Host 1 is configured with another layout. */
  readonly layouts: boolean;
  /** No cut and no pause is longer than this, in milliseconds. */
  readonly longestMs: number;
}

/** What one seed plays: drawn once, then fixed. */
export interface Conditions extends Themes {
  readonly strategy: Strategy;
  readonly horizonMs: number;
  readonly reportMs: number;
  readonly timeoutMs: number;
  readonly maxClockOffsetMs: number;
  readonly hosts: number;
  /** Servers of each host: they share its clock and its network, each has a port and a data directory of its own. */
  readonly processes: number;
  readonly poolSize: number;
  /** Processes that make IDs in windows, which the servers give them. */
  readonly clients: number;
  /** A record is found only under the `ip:port` that it was listed with, as in a table. */
  readonly readsByInstance: boolean;
  /** Requests for IDs come when the clock of the host shows a multiple of this. */
  readonly askMs: number;
  /** Faults happen in the first part of the world, in true milliseconds. */
  readonly faultyMs: number;
  /** After so long without a fault that affects it, a server has to issue. */
  readonly boundMs: number;
  /** How far the clock of each host is ahead when it is right. */
  readonly offsets: readonly number[];
}

/**
 * 12 bits of sequence, and 13 where the layouts differ: worker 1 of the one has the IDs of workers 2 and 3 of the
 * other.
 */
export const LAYOUTS = [
  new BitLayout(DEFAULT_LAYOUT),
  new BitLayout({ ...DEFAULT_LAYOUT, workerBits: 9, sequenceBits: 13 }),
] as const;
