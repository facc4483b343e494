import type { Clock } from '../clock/clock';
import { numberFaults } from '../options';
import type { RandomSource } from '../random';
import type { WorkerFile } from './worker-file';
import type { WorkerPolicy } from './worker-policy';
import type { WorkerStore } from './worker-store';

export interface WorkerRegistryOptions {
  /** Name of the strategy, for logs and errors. */
  readonly name: string;
  /** How far ahead of the clock to reserve time, in milliseconds. */
  readonly horizonMs: number;
  /** Time between two reports, in milliseconds. */
  readonly reportMs: number;
  /** Maximum offset between the clocks of two servers, in milliseconds; 0 disables the comparison of clocks. */
  readonly maxClockOffsetMs: number;
  /** Bit layout and epoch of this server's IDs. */
  readonly layout: string;
  /** Highest worker ID of the layout. */
  readonly maxWorkerId: number;
  /** The store never loses a confirmed write: newcomers do not wait in a new registry. */
  readonly remembers: boolean;
}

/** The components of a registry. */
export interface WorkerRegistryParts {
  readonly store: WorkerStore;
  readonly policy: WorkerPolicy;
  /** Replaces the registry while it cannot be reached; optional. */
  readonly file?: WorkerFile;
  readonly clock: Clock;
  readonly random: RandomSource;
  /** Creates a unique registry ID. */
  readonly newId: () => string;
}

/** Checks the options and returns one message per fault. */
export function optionFaults(options: WorkerRegistryOptions): string[] {
  const faults = numberFaults(
    { ...options },
    { reportMs: { min: 1 }, horizonMs: { min: 2 }, maxClockOffsetMs: { min: 0 } },
  );
  const { reportMs, horizonMs } = options;
  if (horizonMs < 2 * reportMs) {
    faults.push(
      `horizonMs (${horizonMs}) must be at least twice reportMs (${reportMs}), so that the lease survives one failed report`,
    );
  }
  return faults;
}
