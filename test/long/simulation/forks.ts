import type { Fault } from './faults';
import type { SimPlace, WorldParts } from './places';

/** A process that is at work is looked at again after so long, in milliseconds. */
const RETRY_MS = 20;
const RETRIES = 100;

/**
 * Copies the memory of a process, at a moment at which none of its requests is under way. A clone runs beside its
 * origin at once. Of a process that is rolled back to a snapshot, only the copy goes on, `ms` later.
 */
export function forkWhenIdle(world: WorldParts, place: SimPlace, fault: Fault, left = RETRIES): void {
  const { scheduler } = world;
  const copy = world.copyOf(place);
  if (copy === undefined) {
    if (left > 0) scheduler.at(scheduler.now + RETRY_MS, fault.kind, () => forkWhenIdle(world, place, fault, left - 1));
    return;
  }
  const { kind, ms, by } = fault;
  if (kind === 'process cloned') {
    copy.resume();
    scheduler.at(scheduler.now + by, 'the clone ends', () => copy.crash());
    return;
  }
  const resumeAt = scheduler.now + ms;
  const endAt = resumeAt + by;
  place.touchedUntil = Math.max(place.touchedUntil, endAt);
  scheduler.at(resumeAt, kind, () => {
    place.isRolledBack = true;
    place.process?.crash();
    copy.resume();
  });
  scheduler.at(endAt, 'the snapshot ends', () => {
    place.isRolledBack = false;
    copy.crash();
    world.start(place);
  });
}
