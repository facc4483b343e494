import type { ClusterAnswer } from '../../monitor/views';
import type { ShownServer } from './expired-servers';

/** Two minutes of one answer every two seconds. */
const KEPT_ANSWERS = 60;
/** A page that was just opened has a short line, not one answer over the whole width. */
const FEWEST_ANSWERS = 15;

export function totalRate({ idsPerSecond }: Pick<ShownServer, 'idsPerSecond'>): number {
  return idsPerSecond === undefined ? 0 : idsPerSecond.segment + idsPerSecond.snowflake;
}

export function isUnanswered({ state }: Pick<ShownServer, 'state'>): boolean {
  return state === 'silent' || state === 'refused' || state === 'expired';
}

/** Number of answers that fill the width of a line. */
export function capacityFor(rates: readonly number[]): number {
  return Math.max(FEWEST_ANSWERS, rates.length);
}

/** The sum of several lines. They end at the same time, but a new server has fewer answers. */
export function sumOfRates(all: readonly (readonly number[])[]): number[] {
  const length = Math.max(0, ...all.map((rates) => rates.length));
  const sums = Array<number>(length).fill(0);
  for (const rates of all) {
    const offset = length - rates.length;
    rates.forEach((rate, index) => (sums[offset + index] = (sums[offset + index] ?? 0) + rate));
  }
  return sums;
}

/**
 * IDs per second of each server since the page was opened: one value for each answer, 0 if the server did not report.
 * Servers that are no longer listed are forgotten.
 */
export class ServerRates {
  private rates = new Map<string, readonly number[]>();

  take({ servers }: ClusterAnswer): void {
    this.rates = new Map(
      servers.map((server) => [server.instance, [...this.of(server.instance), totalRate(server)].slice(-KEPT_ANSWERS)]),
    );
  }

  of(instance: string): readonly number[] {
    return this.rates.get(instance) ?? [];
  }
}
