import type { FaultRecord } from './fault-record';

/** Longest recovery from one fault, in milliseconds, unless its kind is in {@link LONGER}. */
const BOUND_MS = 5000;
/** A process starts; in a young registry it waits for the lease TTL of 8 s and the allowed clock offset of 5 s. */
const START_MS = 15_000;
/** Members start and elect a leader, a session ends after 10 s, and a server tries again after pauses of up to 10 s. */
const ZOOKEEPER_MS = 15_000;

const LONGER: Readonly<Record<string, number>> = {
  'server-kill': START_MS,
  'server-kill-clock-back': START_MS,
  'server-kill-old-data': START_MS,
  'zookeeper-dead': ZOOKEEPER_MS,
  'zookeeper-leader-kill': ZOOKEEPER_MS,
  'zookeeper-quorum-loss': ZOOKEEPER_MS,
};

/** Longest recovery from a fault of one kind, in milliseconds, while the machine has processors for all processes. */
export function recoveryBoundOf(kind: string): number {
  return LONGER[kind] ?? BOUND_MS;
}

/**
 * One line for each round that took longer to recover than the sum of the bounds of its faults. What the processes waited
 * for a processor is not part of a recovery.
 */
export function slowRecoveries(records: readonly FaultRecord[]): string[] {
  const ends = new Set(records.map(({ recoveredAt }) => recoveredAt));
  return [...ends].flatMap((end) => {
    const round = records.filter(({ recoveredAt }) => recoveredAt === end);
    const { recoveryMs = 0, starvedMs = 0, lastTrouble } = round[0]!;
    const boundMs = round.reduce((sum, { plan }) => sum + recoveryBoundOf(plan.kind), 0);
    if (recoveryMs - starvedMs <= boundMs) return [];
    const kinds = round.map(({ plan }) => `${plan.kind} ${plan.detail}`).join(' and ');
    const times = `${seconds(recoveryMs)}, ${seconds(starvedMs)} of them without a processor`;
    return [`${kinds}: recovered after ${times}, not within ${seconds(boundMs)}: ${lastTrouble ?? ''}`];
  });
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
