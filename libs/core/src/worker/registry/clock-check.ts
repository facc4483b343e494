import type { Clock } from '../../clock/clock';
import { withinDeadline } from '../../util/deadline';
import { LeafError } from '../../errors/leaf-error';
import type { TimeSource } from '../records/worker-store';

export interface ClockCheckOptions {
  /** Maximum offset of our clock from the median of the others, in either direction, in milliseconds. */
  readonly maxOffsetMs: number;
  /** Time limit of a response, in milliseconds. */
  readonly limitMs: number;
}

export interface ClockCheck {
  readonly asked: number;
  readonly answered: number;
  /** How far our clock is ahead of the median of the responses, in milliseconds; undefined without responses. */
  readonly offsetMs: number | undefined;
}

interface Comparison {
  readonly name: string;
  readonly offsetMs: number;
}

const MAX_NAMES = 5;

/**
 * Compares our clock with the given sources, which are queried concurrently. The median decides, so that one wrong
 * clock does not prevent correct servers from starting; of two middle values, the one closer to our clock counts. A
 * source that fails, times out or returns an invalid time is ignored. Without any response, nothing is compared and no
 * error is thrown.
 *
 * @throws LeafError `LEAF_CLOCK_OFFSET` when our clock is farther from the median than allowed
 */
export async function checkClock(
  sources: readonly TimeSource[],
  clock: Clock,
  { maxOffsetMs, limitMs }: ClockCheckOptions,
): Promise<ClockCheck> {
  const compared = await Promise.all(sources.map((source) => compare(source, clock, limitMs)));
  const answers = compared.filter((comparison) => comparison !== undefined);
  const asked = sources.length;
  if (answers.length === 0) return { asked, answered: 0, offsetMs: undefined };
  const offsetMs = median(answers.map((answer) => answer.offsetMs));
  if (Math.abs(offsetMs) > maxOffsetMs) throw tooFar(offsetMs, maxOffsetMs, answers);
  return { asked, answered: answers.length, offsetMs };
}

function median(offsets: readonly number[]): number {
  const sorted = [...offsets].sort((a, b) => a - b);
  const [low = 0, high = 0] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return Math.abs(low) < Math.abs(high) ? low : high;
}

/** Assumes that the source read its clock half a round trip before its response arrived. */
async function compare(source: TimeSource, clock: Clock, limitMs: number): Promise<Comparison | undefined> {
  const sent = clock.monotonic();
  let offsetMs: number | undefined;
  const answer = async (): Promise<void> => {
    const theirs = await source.ask();
    const roundTrip = clock.monotonic() - sent;
    // After a suspension of this process, a late response may be processed before the deadline fires.
    if (roundTrip > limitMs || !Number.isSafeInteger(theirs) || theirs < 0) return;
    offsetMs = clock.now() - roundTrip / 2 - theirs;
  };
  await withinDeadline(
    answer().catch(() => undefined),
    sent + limitMs,
    clock,
  );
  return offsetMs === undefined ? undefined : { name: source.name, offsetMs };
}

function tooFar(offsetMs: number, maxOffsetMs: number, answers: readonly Comparison[]): LeafError {
  const direction = offsetMs > 0 ? 'ahead of' : 'behind';
  const shown = answers.slice(0, MAX_NAMES).map(({ name, offsetMs: own }) => `${name} (${signed(own)})`);
  const more = answers.length - shown.length;
  const whom = more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
  return new LeafError(
    'LEAF_CLOCK_OFFSET',
    `The clock of this server is ${Math.ceil(Math.abs(offsetMs))} ms ${direction} the median of the others; ${maxOffsetMs} ms are allowed. Offsets in ms: ${whom}. Correct the clock of this host, or the clocks that are wrong, and restart this server.`,
  );
}

function signed(ms: number): string {
  return `${ms > 0 ? '+' : ''}${Math.round(ms)}`;
}
