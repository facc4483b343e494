import { call } from '../http/http';
import { until } from '../until';

/** A start after a kill waits for the reserved time. */
export const SHORT_LEASE = { LEAF_SNOWFLAKE_REPORT_MS: '200', LEAF_SNOWFLAKE_LEASE_TTL_MS: '6000' };

/** For a wait in a registry that is young, or for time that is reserved, on a busy machine. */
const LIMIT_MS = 60_000;

/** Resolves when the server issues all that it is asked for. */
export async function ready(port: number): Promise<void> {
  await until('readiness', async () => (await call(port, '/health/ready')).status === 200, LIMIT_MS);
}
