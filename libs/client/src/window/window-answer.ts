import { BitLayout, type BitLayoutOptions } from '@leaf-ids/core';
import { asObject, wrong } from '../http/answers';

/** The right to issue IDs as one worker with timestamps from `from` to `until`. */
export interface WindowAnswer {
  readonly workerId: number;
  /** Unix milliseconds, as `until` and `now`. */
  readonly from: number;
  readonly until: number;
  /** The clock of the server. */
  readonly now: number;
  readonly layout: BitLayout;
}

/**
 * Parses the window of a response.
 *
 * @throws ServerFault unless it belongs to `lease` and is complete
 */
export function readWindow(body: unknown, lease: string): WindowAnswer {
  const { lease: answered, workerId, from, until, now, layout: bits } = asObject(body);
  if (answered !== lease) throw wrong('its window belongs to another lease');
  if (!isWhole(workerId) || !isWhole(from) || !isWhole(until) || !isWhole(now)) {
    throw wrong('its window lacks a number');
  }
  const layout = readLayout(asObject(bits));
  if (workerId > layout.maxWorkerId) throw wrong(`worker ID ${workerId} does not fit the layout`);
  return { workerId, from, until, now, layout };
}

function readLayout(bits: object): BitLayout {
  try {
    return new BitLayout(bits as BitLayoutOptions);
  } catch {
    throw wrong('its layout is invalid');
  }
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
