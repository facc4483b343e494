import type { LeafModeHealth } from '@leaf-ids/id';
import type { ServerStatus } from '../processes/merge-status';
import { SingleProcess } from '../processes/process-bus';
import type { ProcessReadiness, Readiness } from '../lifecycle/readiness';
import { AggregatedReadiness, type Mode } from './health.controller';

const UP: LeafModeHealth = { status: 'up' };
const DOWN: LeafModeHealth = { status: 'down', message: 'broken' };

async function readinessOf(mode: Mode | undefined, status: object, drain = UP): Promise<object> {
  const own = { current: () => ({ listening: true, drain, leaf: status }) as unknown as ProcessReadiness };
  const readiness = new AggregatedReadiness(own as Readiness, new SingleProcess(), {} as ServerStatus);
  const checks = await readiness.checks(mode);
  return Object.assign({}, ...checks.map((check) => check())) as object;
}

describe('AggregatedReadiness', () => {
  const status = { segment: { health: UP }, snowflake: { health: DOWN } };

  it('has the parts of both modes, or of one', async () => {
    expect(await readinessOf(undefined, status)).toEqual({ drain: UP, segment: UP, snowflake: DOWN });
    expect(await readinessOf('segment', status)).toEqual({ drain: UP, segment: UP });
    expect(await readinessOf('snowflake', status)).toEqual({ drain: UP, snowflake: DOWN });
  });

  it('is down for a mode that is off, and for every mode during a drain', async () => {
    const off = { status: 'down', message: 'LEAF_SNOWFLAKE_ENABLED is false on this server.' };
    expect(await readinessOf('snowflake', { segment: { health: UP } })).toEqual({ drain: UP, snowflake: off });
    expect(await readinessOf('segment', status, DOWN)).toEqual({ drain: DOWN, segment: UP });
  });
});
