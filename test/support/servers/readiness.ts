import { call } from '../http/http';
import { until } from '../until';

/** In a new registry a server waits before it issues; with these for some 3 s, which is less than the default. */
export const SHORT_GRACE = {
  LEAF_SNOWFLAKE_REPORT_MS: '200',
  LEAF_SNOWFLAKE_HORIZON_MS: '2000',
  LEAF_SNOWFLAKE_MAX_CLOCK_OFFSET_MS: '1000',
};

/** For a wait in a registry that is young, or for time that is reserved, on a busy machine. */
const LIMIT_MS = 60_000;

/** Resolves when the server issues all that it is asked for. */
export async function ready(port: number): Promise<void> {
  await until('readiness', async () => (await call(port, '/health/ready')).status === 200, LIMIT_MS);
}
