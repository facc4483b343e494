import type { Clock } from '../clock/clock';
import { both, flag, milliseconds, object, required, type Rules, text, whole } from '../options';
import type { RandomSource } from '../random';
import type { ImportFile } from './import-file';
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
  /** Replaces it as long as `file` does not exist; optional, and only with `file`. */
  readonly importFile?: ImportFile;
  readonly clock: Clock;
  readonly random: RandomSource;
  /** Creates a unique registry ID. */
  readonly newId: () => string;
}

/** The rules of a lease. */
export const LEASE_RULES: Rules<Pick<WorkerRegistryOptions, 'reportMs' | 'horizonMs' | 'maxClockOffsetMs'>> = {
  reportMs: milliseconds(1),
  horizonMs: milliseconds(2),
  maxClockOffsetMs: milliseconds(0),
};

/** The faults of a lease whose options have none by themselves. */
export function leaseFaults({ reportMs, horizonMs }: { reportMs: number; horizonMs: number }, path = ''): string[] {
  if (horizonMs >= 2 * reportMs) return [];
  return [
    `${path}horizonMs (${horizonMs}) must be at least twice ${path}reportMs (${reportMs}), so that the lease survives one failed report`,
  ];
}

const RULES: Rules<WorkerRegistryOptions> = {
  name: text,
  reportMs: required(LEASE_RULES.reportMs),
  horizonMs: required(LEASE_RULES.horizonMs),
  maxClockOffsetMs: required(LEASE_RULES.maxClockOffsetMs),
  layout: required(text),
  maxWorkerId: required(whole(0)),
  remembers: required(flag),
};

/** The rule of {@link WorkerRegistryOptions}. */
export const workerRegistryRule = both(object(RULES), (options) => leaseFaults(options as WorkerRegistryOptions));
