import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Answer, call } from './http';

export interface SharedAnswerOptions {
  /** Cache key of a request. */
  readonly keyOf: (url: string) => string;
  /** Whether responses are cached; otherwise only concurrent requests share a response. */
  readonly keeps: boolean;
}

/** A proxy that returns one response to several requests and ignores cache headers. */
export class SharedAnswerProxy {
  /** Number of forwarded requests. */
  passed = 0;
  /** Number of requests that got the response of another request. */
  shared = 0;
  private readonly answers = new Map<string, Promise<Answer>>();

  private constructor(
    private readonly server: Server,
    private readonly upstream: number,
    private readonly options: SharedAnswerOptions,
  ) {
    server.on('request', ({ url = '' }, response) => {
      void this.answer(url).then(({ status, headers, body }) => {
        response.writeHead(status, contentHeaders(headers)).end(body);
      });
    });
  }

  static async start(upstream: number, options: SharedAnswerOptions): Promise<SharedAnswerProxy> {
    const server = createServer();
    const proxy = new SharedAnswerProxy(server, upstream, options);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private answer(url: string): Promise<Answer> {
    const key = this.options.keyOf(url);
    const known = this.answers.get(key);
    if (known !== undefined) {
      this.shared++;
      return known;
    }
    this.passed++;
    const answer = call(this.upstream, url);
    this.answers.set(key, answer);
    if (!this.options.keeps) void answer.finally(() => this.answers.delete(key));
    return answer;
  }
}

/** All but those of the connection. */
function contentHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const entries = Object.entries(headers);
  return Object.fromEntries(entries.filter(([name]) => name !== 'connection' && name !== 'keep-alive'));
}
