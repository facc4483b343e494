import { BitLayout, DEFAULT_LAYOUT } from '@leaf-ids/core';
import type { LeaseLimits } from '@leaf-ids/core/internal';

export const STRATEGIES = ['fixed with file', 'fixed', 'pool', 'local'] as const;
export type Strategy = (typeof STRATEGIES)[number];

/** Unix milliseconds at which every simulation starts. */
export const START = 1_700_000_000_000;

/** Timestamps in output start at 0, which makes them easier to compare. */
export function sinceStart(timestamp: number): string {
  return timestamp < START / 2 ? 'no time' : `${timestamp - START}`;
}

/** How often a server reports, how far ahead it reserves, and which clocks it accepts. */
export interface Settings {
  readonly leaseTtlMs: number;
  readonly reportMs: number;
  readonly maxClockOffsetMs: number;
}

/** Where the servers keep their records: operations of the store itself, or the shipped store on ZooKeeper's nodes. */
export type Registry = 'records' | 'zookeeper';

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
  /** Processes are cloned, or rolled back to a snapshot of their memory. */
  readonly forks: boolean;
  /** Nothing happens but the loss of history, and clients that come and go. */
  readonly calm: boolean;
  /** No cut and no pause is longer than this, in milliseconds. */
  readonly longestMs: number;
}

/** What one seed plays: drawn once, then fixed. */
export interface Conditions extends Themes, Settings {
  readonly strategy: Strategy;
  readonly registry: Registry;
  /** Of each host; those of the world are the longest of them. */
  readonly settings: readonly Settings[];
  /** Of all hosts. */
  readonly limits: LeaseLimits;
  readonly timeoutMs: number;
  /** What a message takes longer than on a fast network, in milliseconds. */
  readonly latencyMs: number;
  readonly hosts: number;
  /** Servers of each host: they share its clock and its network, each has a port and a data directory of its own. */
  readonly processes: number;
  readonly poolSize: number;
  /** Processes that make IDs in windows, which the servers give them. */
  readonly clients: number;
  /** Largest number of windows at the same time: the rest of the worker IDs is enough for the servers. */
  readonly mostWindows: number;
  /** Servers of the Java service under the same name: each records the present time every 3 s, and no lease. */
  readonly java: number;
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
