import type { Clock } from '../../clock/clock';
import {
  both,
  type Fault,
  flag,
  milliseconds,
  object,
  pathOf,
  required,
  type Rules,
  text,
  whole,
} from '../../util/options';
import type { RandomSource } from '../../util/random';
import type { WorkerRange } from '../records/worker-range';
import type { WorkerFile } from '../records/worker-file';
import type { WorkerPolicy } from './worker-policy';
import type { WorkerStore } from '../records/worker-store';

export interface WorkerRegistryOptions {
  /** Name of the strategy, for logs and errors. */
  readonly name: string;
  /** Lease TTL: how far ahead of the clock to reserve time, in milliseconds. */
  readonly leaseTtlMs: number;
  /** Time between two reports, in milliseconds. */
  readonly reportMs: number;
  /** Maximum offset between the clocks of two servers, in milliseconds; 0 disables the comparison of clocks. */
  readonly maxClockOffsetMs: number;
  /** Bit layout and epoch of this server's IDs. */
  readonly layout: string;
  /** Highest worker ID of the layout. */
  readonly maxWorkerId: number;
  /** The worker IDs that this server may take and hand out; all of the layout by default. Servers may differ. */
  readonly workers?: WorkerRange;
  /** The store never loses a confirmed write: newcomers do not wait in a new registry. */
  readonly remembers: boolean;
  /** Must be the same for all servers of a registry; {@link LEASE_LIMITS} by default. */
  readonly limits?: LeaseLimits;
}

/**
 * Bounds for the settings of every server of a registry, in milliseconds.
 *
 * A registry that was emptied has forgotten the settings of its servers, too. So a newcomer waits (R5) by these bounds,
 * not by its own settings: each holder that can reach the registry reads it at least once in `reportMs`, and its clock
 * differs from that of the newcomer by at most `clockOffsetMs`. Settings beyond the bounds are refused. The lease TTL has
 * no bound, because the document records the longest one: a holder that registers again in the grace period raises it,
 * and so extends the grace period of a fixed registry.
 */
export interface LeaseLimits {
  /** Longest report interval. */
  readonly reportMs: number;
  /** Largest offset between the clocks of two servers. */
  readonly clockOffsetMs: number;
}

export const LEASE_LIMITS: LeaseLimits = { reportMs: 3000, clockOffsetMs: 5000 };

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

/** The rules of a lease. */
export const LEASE_RULES: Rules<Pick<WorkerRegistryOptions, 'reportMs' | 'leaseTtlMs' | 'maxClockOffsetMs'>> = {
  reportMs: milliseconds(1),
  leaseTtlMs: milliseconds(2),
  maxClockOffsetMs: milliseconds(0),
};

/**
 * The faults that the settings of a lease have together. The limits apply where the registry can lose confirmed writes.
 *
 * @param path of the settings
 */
export function leaseFaults(
  settings: Pick<WorkerRegistryOptions, 'reportMs' | 'leaseTtlMs' | 'maxClockOffsetMs' | 'remembers' | 'limits'>,
  path: string,
): Fault[] {
  const { reportMs, leaseTtlMs, maxClockOffsetMs, remembers, limits = LEASE_LIMITS } = settings;
  const { reportMs: longest, clockOffsetMs: offset } = limits;
  const forgets = 'in a registry that was emptied, servers wait for each other by this bound';
  const sum = `the clock offset to allow for (${offset}) plus the report interval`;
  const loses = 'otherwise servers would lose their worker IDs when the registry is emptied';
  const twice = `twice the report interval (${reportMs}), so that the lease survives one failed report`;
  const bounds = [
    ['leaseTtlMs', leaseTtlMs >= 2 * reportMs, `least ${twice}`],
    ['reportMs', remembers || reportMs <= longest, `most ${longest}: ${forgets}`],
    ['maxClockOffsetMs', remembers || maxClockOffsetMs <= offset, `most ${offset}: ${forgets}`],
    ['leaseTtlMs', remembers || leaseTtlMs >= offset + reportMs, `least ${offset + reportMs}, ${sum}: ${loses}`],
  ] as const;
  return bounds.flatMap(([option, fits, bound]) =>
    fits ? [] : [{ path: pathOf(path, option), fault: `(${settings[option]}) must be at ${bound}` }],
  );
}

/** The worker IDs that a server with these options may take and hand out. */
export function workersOf({
  workers,
  maxWorkerId,
}: Pick<WorkerRegistryOptions, 'workers' | 'maxWorkerId'>): WorkerRange {
  return workers ?? { first: 0, last: maxWorkerId };
}

const LIMITS: Rules<LeaseLimits> = { reportMs: required(milliseconds(1)), clockOffsetMs: required(milliseconds(0)) };

const RANGE: Rules<WorkerRange> = { first: required(whole(0)), last: required(whole(0)) };

const RULES: Rules<WorkerRegistryOptions> = {
  name: text,
  reportMs: required(LEASE_RULES.reportMs),
  leaseTtlMs: required(LEASE_RULES.leaseTtlMs),
  maxClockOffsetMs: required(LEASE_RULES.maxClockOffsetMs),
  layout: required(text),
  maxWorkerId: required(whole(0)),
  workers: object(RANGE),
  remembers: required(flag),
  limits: object(LIMITS),
};

/** The rule of {@link WorkerRegistryOptions}. */
export const workerRegistryRule = both(object(RULES), (value, path) => {
  const options = value as WorkerRegistryOptions;
  return [...leaseFaults(options, path), ...rangeFaults(options, pathOf(path, 'workers'))];
});

/** @param path of the range */
export function rangeFaults(
  options: Pick<WorkerRegistryOptions, 'workers' | 'maxWorkerId'>,
  path: string,
): readonly Fault[] {
  const { first, last } = workersOf(options);
  const { maxWorkerId } = options;
  if (first <= last && last <= maxWorkerId) return [];
  return [{ path, fault: `must be in the worker IDs of the layout, 0 to ${maxWorkerId}, not ${first}-${last}` }];
}
