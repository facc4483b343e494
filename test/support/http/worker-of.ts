import { defaultLayout } from '@leaf-ids/core/internal';
import { call } from './http';

/** The worker of the next snowflake ID; undefined while the server refuses. */
export async function workerOf(port: number): Promise<number | undefined> {
  const { status, body } = await call(port, '/api/snowflake/get/order');
  return status === 200 ? defaultLayout().decompose(BigInt(body)).workerId : undefined;
}
