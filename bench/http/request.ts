import { get, type Agent } from 'node:http';

/** The path of a snowflake ID. The servers without a real one have a constant response. */
export const SNOWFLAKE_PATH = '/api/snowflake/get/bench';

const LIMIT_MS = 30_000;

export interface Answer {
  readonly status: number;
  readonly text: string;
}

interface ManyIds {
  readonly ids?: readonly string[];
  readonly ranges?: readonly { readonly from: string; readonly to: string }[];
}

/** Sends a GET request and reads the whole response; rejects after `limitMs`. */
export function request(port: number, path: string, limitMs: number, agent: Agent | false = false): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(limitMs);
    const sent = get({ host: '127.0.0.1', port, path, agent, signal }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString() });
      });
      response.on('error', reject);
    });
    sent.on('error', reject);
  });
}

/** Throws unless the response is a 200 that contains exactly `ids` IDs. */
export async function requestIds(port: number, path: string, ids: number, agent?: Agent): Promise<void> {
  const { status, text } = await request(port, path, LIMIT_MS, agent);
  if (status === 200 && countIds(text) === ids) return;
  throw new Error(`GET ${path} returned ${status} ${JSON.stringify(text.slice(0, 300))}, expected ${ids} IDs.`);
}

/** Number of IDs in a response: plain text, a batch or ranges; undefined for anything else. */
export function countIds(text: string): number | undefined {
  if (/^\d{1,19}$/.test(text)) return 1;
  if (!text.startsWith('{')) return undefined;
  const { ids, ranges } = JSON.parse(text) as ManyIds;
  if (ids !== undefined) return ids.every((id) => /^\d{1,19}$/.test(id)) ? new Set(ids).size : undefined;
  return ranges?.reduce((sum, { from, to }) => sum + Number(BigInt(to) - BigInt(from) + 1n), 0);
}
