import type { Sample } from './subject/sample';

/** How far a figure may be above what it was in the beginning. */
interface Allowance {
  readonly share: number;
  readonly least: number;
}

const MIB = 2 ** 20;
/** Connections and requests that are there or not at the moment of a look. */
const FEW: Allowance = { share: 0, least: 4 };
const NONE: Allowance = { share: 0, least: 0 };
const HEAP: Allowance = { share: 0.05, least: MIB };
/** The operating system's view moves by whole pages of what has long been garbage. */
const RESIDENT: Allowance = { share: 0.1, least: 8 * MIB };

const ALLOWED: Readonly<Record<keyof Sample, Allowance>> = {
  heapBytes: HEAP,
  residentBytes: RESIDENT,
  descriptors: FEW,
  handles: FEW,
  timers: FEW,
  emitters: FEW,
  // A socket has about ten listeners.
  listeners: { share: 0, least: 24 },
  // A report to a registry holds about a dozen promises while it runs.
  promises: { share: 0, least: 32 },
  children: NONE,
  childDescriptors: FEW,
  childResidentBytes: RESIDENT,
};

export interface Course {
  readonly process: string;
  readonly figure: keyof Sample;
  /** Medians of the first and of the last third of the looks. */
  readonly first: number;
  readonly last: number;
  readonly allowed: number;
  readonly flat: boolean;
}

/** How each figure of a process went. @param samples oldest first, without those of its warming up; three or more */
export function coursesOf(process: string, samples: readonly Sample[]): Course[] {
  const third = Math.floor(samples.length / 3);
  if (third === 0) throw new Error(`${process} was looked at ${samples.length} times only: the run was too short`);
  return (Object.keys(ALLOWED) as (keyof Sample)[]).map((figure) => {
    const first = median(samples.slice(0, third).map((sample) => sample[figure]));
    const last = median(samples.slice(-third).map((sample) => sample[figure]));
    const { share, least } = ALLOWED[figure];
    const allowed = first + Math.max(first * share, least);
    return { process, figure, first, last, allowed, flat: last <= allowed };
  });
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
