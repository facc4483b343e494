import { formatInstance } from './instance';
import { windowOf } from './window-holder';
import type { Peer, StoredWorker } from './worker-store';

/** The servers that hold a worker ID of these records; windows are not servers. `now` is in Unix milliseconds. */
export function holdersOf(records: readonly StoredWorker[], now: number): Peer[] {
  const held = records.filter(({ record }) => !record.free && record.ceiling > now && windowOf(record) === undefined);
  return held.map(({ workerId, record }) => ({ instance: formatInstance(record.instance), workerId }));
}
