/** What was done, over all processes of a simulation. */
export interface Tally {
  ids: number;
  /** IDs that clients made in their windows. */
  windowIds: number;
  /** Windows in which a client made IDs. */
  windows: number;
  acquired: number;
  /** Registered again after history was lost. */
  reregistered: number;
  /** Lost with the history: another worker ID is acquired. */
  reacquired: number;
  released: number;
  lost: number;
  /** Records that a write to an earlier node of ZooKeeper has replaced. */
  overwritten: number;
  /** Seconds in which a server was up and issued nothing. */
  outageSeconds: number;
}

export const TALLY = [
  'ids',
  'windowIds',
  'windows',
  'acquired',
  'reregistered',
  'reacquired',
  'released',
  'lost',
  'overwritten',
  'outageSeconds',
] as const;

export function noTally(): Tally {
  return {
    ids: 0,
    windowIds: 0,
    windows: 0,
    acquired: 0,
    reregistered: 0,
    reacquired: 0,
    released: 0,
    lost: 0,
    overwritten: 0,
    outageSeconds: 0,
  };
}
