import type { OutgoingHttpHeaders } from 'node:http';
import { type Answer, call } from './http';

export const ADMIN_TOKEN = 'test-token-0123456789';

/** A request to the admin API; `token` null sends none. */
export function admin(
  port: number,
  method: string,
  path: string,
  body?: unknown,
  token: string | null = ADMIN_TOKEN,
): Promise<Answer> {
  const headers: OutgoingHttpHeaders = token === null ? {} : { authorization: `Bearer ${token}` };
  if (body === undefined) return call(port, path, { method, headers });
  const text = JSON.stringify(body);
  // Node.js sends no Content-Length with the body of a DELETE by itself.
  const ofBody = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  return call(port, path, { method, headers: { ...headers, ...ofBody }, body: text });
}
