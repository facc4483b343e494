import type { LeafModeHealth, LeafStatus } from '@leaf-ids/id';
import type { ProcessStatus } from '../lifecycle/readiness';
import { isServerReady, mergeReadiness, servingOf } from './merge-status';

const UP: LeafModeHealth = { status: 'up' };
const REFRESH: LeafModeHealth = { status: 'degraded', message: 'away' };
const LOST: LeafModeHealth = { status: 'down', code: 'LEAF_LEASE_LOST', message: 'a twin' };

function statusOf(
  parts: { readonly segment?: LeafModeHealth; readonly snowflake?: LeafModeHealth },
  listening = true,
): ProcessStatus {
  const { segment, snowflake } = parts;
  const leaf = {
    now: 0,
    ...(segment && { segment: { health: segment } }),
    ...(snowflake && { snowflake: { health: snowflake } }),
  };
  return { listening, drain: UP, leaf: leaf as LeafStatus };
}

describe('The status of several processes', () => {
  const merge = (...statuses: ProcessStatus[]): ReturnType<typeof mergeReadiness> =>
    mergeReadiness({ answers: statuses.map((value, process) => ({ process, value })), missing: [] });

  it('is of each part the worst, and names the first process where it is so', () => {
    const up = statusOf({ segment: UP, snowflake: UP });
    expect(merge(up, up)).toEqual({ drain: UP, segment: UP, snowflake: UP });
    const degraded = statusOf({ segment: REFRESH, snowflake: UP });
    const down = statusOf({ segment: REFRESH, snowflake: LOST });
    expect(merge(up, degraded, down)).toEqual({
      drain: UP,
      segment: { ...REFRESH, process: 1 },
      snowflake: { ...LOST, process: 2 },
    });
  });

  it('leaves out a mode that is off, and a process that takes no connections', () => {
    expect(merge(statusOf({ snowflake: UP }), statusOf({ snowflake: LOST }, false))).toEqual({
      drain: UP,
      snowflake: UP,
    });
    expect(merge(statusOf({ snowflake: LOST }, false))).toEqual({});
  });

  it('is ready when every process that takes connections is, and there is one', () => {
    const ready = (...statuses: ProcessStatus[]): boolean =>
      isServerReady(
        servingOf(
          statuses.map((value, process) => ({ process, value })),
          (status) => status,
        ).map(({ value }) => value),
      );
    const up = statusOf({ snowflake: UP });
    expect(ready(up, statusOf({ segment: REFRESH }))).toBe(true);
    expect(ready(up, statusOf({ snowflake: LOST }))).toBe(false);
    expect(ready(up, statusOf({ snowflake: LOST }, false))).toBe(true);
    expect(ready({ ...up, drain: { status: 'down' } })).toBe(false);
    expect(ready(statusOf({ snowflake: UP }, false))).toBe(false);
  });
});
