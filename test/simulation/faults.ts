/** Every kind of fault that is injected, in the order in which they are printed. */
export const FAULTS = [
  'crash',
  'crash at a request',
  'crash at a reply',
  'pause',
  'pause inside a call',
  'machine suspended',
  'clock step forward',
  'clock step back',
  'clock drift',
  'lost request',
  'lost reply',
  'write applied late',
  'registry down',
  'registry down for hours',
  'host cut off',
  'two of one identity',
  'replaced beside others',
] as const;

export type Fault = (typeof FAULTS)[number];

export type FaultCounts = Record<Fault, number>;

export function noFaults(): FaultCounts {
  return Object.fromEntries(FAULTS.map((fault) => [fault, 0])) as FaultCounts;
}
