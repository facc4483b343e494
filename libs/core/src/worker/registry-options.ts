import type { Clock } from '../clock/clock';
import { numberFaults } from '../options';
import type { RandomSource } from '../random';
import type { WorkerFile } from './worker-file';
import type { WorkerPolicy } from './worker-policy';
import type { WorkerStore } from './worker-store';

export interface WorkerRegistryOptions {
  /** The name of the strategy, for people. */
  readonly name: string;
  /** How far ahead of the clock time is reserved, in milliseconds. */
  readonly horizonMs: number;
  /** Time between two reports, in milliseconds. */
  readonly reportMs: number;
  /** How far the clocks of two servers may be apart, in milliseconds; 0: any, and no clock is compared. */
  readonly maxClockOffsetMs: number;
  /** Bits and epoch of this server's IDs. */
  readonly layout: string;
  /** Highest worker ID that the layout holds. */
  readonly maxWorkerId: number;
  /** The store loses no confirmed write: newcomers do not wait in a new registry. */
  readonly remembers: boolean;
}

/** What a registry is built from. */
export interface WorkerRegistryParts {
  readonly store: WorkerStore;
  readonly policy: WorkerPolicy;
  /** Replaces the registry while that cannot be reached; left out: nothing does. */
  readonly file?: WorkerFile;
  readonly clock: Clock;
  readonly random: RandomSource;
  /** A registry ID never used before. */
  readonly newId: () => string;
}

/** What is wrong with the options, one sentence each. */
export function optionFaults(options: WorkerRegistryOptions): string[] {
  const faults = numberFaults(
    { ...options },
    { reportMs: { min: 1 }, horizonMs: { min: 2 }, maxClockOffsetMs: { min: 0 } },
  );
  const { reportMs, horizonMs } = options;
  if (horizonMs < 2 * reportMs) {
    faults.push(
      `horizonMs (${horizonMs}) must be at least twice reportMs (${reportMs}), so that one failed report does no harm`,
    );
  }
  return faults;
}
