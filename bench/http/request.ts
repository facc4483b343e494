import { get, type Agent } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** One GET from this machine, read to its end; rejects when that takes longer than `limitMs`. */
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

/** The answer, if it is a 200 with a decimal ID, or with a batch of them, and nothing else; throws otherwise. */
export async function requestId(port: number, path: string): Promise<string> {
  const { status, text } = await request(port, path, 5000);
  if (status === 200 && /^(\d{1,19}|\{"(tag|key)":"[^"]+","ids":\[("\d{1,19}",?)+\]\})$/.test(text)) return text;
  throw new Error(`GET ${path} answered ${status} ${JSON.stringify(text.slice(0, 300))} in place of an ID.`);
}
