import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NO_NONCE, NONCE_HEADER, NONCE_PARAMETER } from '@leaf-ids/core/internal';

export interface FakeRequest {
  readonly path: string;
  readonly route: 'range' | 'batch' | 'other';
  /** Tag or key. */
  readonly name: string;
  readonly size: number;
}

/** Sends a response, or returns the correct response for a test to send or modify. */
export type FakeAnswer = (response: ServerResponse, sound: unknown, request: FakeRequest) => void | Promise<void>;

export function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

export function problem(
  response: ServerResponse,
  status: number,
  code: string,
  headers: Record<string, string> = {},
): void {
  const body = { type: 'about:blank', title: 'x', status, code, detail: `It is ${code}.` };
  send(response, status, body, { 'content-type': 'application/problem+json; charset=utf-8', ...headers });
}

/**
 * Implements the ID routes of a Leaf server with configurable faults. All tags share one counter, which starts at
 * `first`.
 */
export class FakeLeaf {
  readonly requests: FakeRequest[] = [];
  /** Pending requests. */
  open = 0;
  peak = 0;
  /** Whether responses repeat the nonce; servers of the previous version do not. */
  repeatsNonces = true;
  answer: FakeAnswer = (response, sound) => send(response, 200, sound);

  private constructor(
    private readonly server: Server,
    private next: bigint,
  ) {
    server.on('request', (request, response) => void this.serve(request, response));
  }

  static async start(first = 1n): Promise<FakeLeaf> {
    const server = createServer();
    const fake = new FakeLeaf(server, first);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/`;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    if (!this.server.listening) return;
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    const query = new URL(path, this.url).searchParams;
    const [, route, name = ''] = /^\/api\/\w+\/(range|batch)\/([^?]+)/.exec(path) ?? [];
    const size = Number(query.get('size') ?? 0);
    if (this.repeatsNonces) response.setHeader(NONCE_HEADER, query.get(NONCE_PARAMETER) ?? NO_NONCE);
    const known: FakeRequest = { path, route: route === 'range' || route === 'batch' ? route : 'other', name, size };
    this.requests.push(known);
    this.peak = Math.max(this.peak, ++this.open);
    response.on('close', () => this.open--);
    await this.answer(response, this.soundAnswer(known), known);
  }

  private soundAnswer({ route, name, size }: FakeRequest): unknown {
    const from = this.next;
    this.next += BigInt(size);
    if (route === 'range') return { tag: name, ranges: [{ from: String(from), to: String(this.next - 1n) }] };
    return { key: name, ids: Array.from({ length: size }, (_, index) => String(from + BigInt(index))) };
  }
}
