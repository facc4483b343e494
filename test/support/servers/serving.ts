import { call, text } from '../http/http';

/** Checks that the server still serves requests. */
export async function expectServing(port: number): Promise<void> {
  expect(Number(await text(port, '/api/segment/get/leaf-segment-test'))).toBeGreaterThan(0);
  expect(Number(await text(port, '/api/snowflake/get/order'))).toBeGreaterThan(0);
  expect((await call(port, '/health/ready')).status).toBe(200);
}
