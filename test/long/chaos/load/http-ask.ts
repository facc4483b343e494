import { type Agent, request } from 'node:http';

export interface Question {
  /** 127.0.0.1 when left out. */
  readonly host?: string;
  readonly port: number;
  readonly path: string;
  readonly limitMs: number;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Left out: a connection of its own. */
  readonly agent?: Agent;
}

/** Why there was no answer: `refused` and `reset` at once, `timeout` after the limit. */
export type NetworkFault = 'refused' | 'reset' | 'timeout';

export type Reply = { readonly status: number; readonly body: string } | { readonly fault: NetworkFault };

/** One request. What does not answer in time is given up, and its answer, should it come, is lost. */
export function ask({
  host = '127.0.0.1',
  port,
  path,
  limitMs,
  method = 'GET',
  headers,
  body,
  agent,
}: Question): Promise<Reply> {
  return new Promise((resolve) => {
    let late = false;
    const outgoing = request({ host, port, path, method, headers: headers ?? {}, agent: agent ?? false });
    const limit = setTimeout(() => {
      late = true;
      outgoing.destroy();
    }, limitMs);
    const settle = (reply: Reply): void => {
      clearTimeout(limit);
      resolve(reply);
    };
    const fail = (error?: Error): void => {
      const refused = (error as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED';
      settle({ fault: late ? 'timeout' : refused ? 'refused' : 'reset' });
    };
    outgoing.on('error', fail);
    outgoing.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (text += part));
      response.on('end', () => settle({ status: response.statusCode ?? 0, body: text }));
      response.on('error', fail);
      response.on('close', () => fail());
    });
    outgoing.on('close', () => fail());
    outgoing.end(body);
  });
}
