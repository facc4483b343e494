import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const HOST = '127.0.0.1';

/**
 * A server whose answers are chosen by a function: a right one, a wrong one, none, or one that is late.
 *
 * The function gets the request, with `kind` (`range`, `period`, `window`), `tag`, `size`, `nonce`, `lease`, `body`, `at`
 * (monotonic milliseconds), and returns the answer: `status`, `json` or `text`, `headers`, `nonce` (the header; that of
 * the request when left out, none with null), `delayMs`, `lose` (close the connection instead), and `grant`, what the
 * answer gives to the client. `grant.at` is set once it has been sent.
 */
export class ScriptedServer {
  requests = [];
  respond;

  constructor(respond) {
    this.respond = respond;
    this.server = createServer((incoming, response) => {
      this.serve(incoming, response).catch(() => response.destroy());
    });
  }

  async open() {
    this.server.on('connection', (socket) => socket.on('close', () => (socket.endedAt = performance.now())));
    this.server.listen(0, HOST);
    await once(this.server, 'listening');
    this.url = `http://${HOST}:${this.server.address().port}`;
    return this;
  }

  close() {
    this.server.closeAllConnections();
    this.server.close();
  }

  async serve(incoming, response) {
    const { headers, socket } = incoming;
    const request = { at: performance.now(), ...readPath(incoming), headers, socket };
    // Before the body: requests are in the order of their arrival.
    this.requests.push(request);
    response.on('close', () => (request.endedAt = performance.now()));
    let text = '';
    for await (const part of incoming.setEncoding('utf8')) text += part;
    request.body = text === '' ? undefined : JSON.parse(text);
    if (request.kind === 'window') request.lease ??= request.body?.lease;
    const answer = await this.respond(request);
    if (answer.delayMs !== undefined) await sleep(answer.delayMs);
    request.answer = answer;
    if (answer.lose === true || response.destroyed) return void response.destroy();
    send(response, request, answer);
    request.answeredAt = performance.now();
    if (answer.grant !== undefined) answer.grant.at = request.answeredAt;
  }
}

function readPath({ method, url }) {
  const { pathname, searchParams } = new URL(url, 'http://kit');
  const [, api, first, second, third] = pathname.split('/');
  const kind = api === 'api' && first === 'segment' ? second : first === 'workers' ? 'window' : 'unknown';
  return {
    ...{ method, path: url, kind },
    ...(kind === 'window'
      ? { lease: second }
      : { tag: third && decodeURIComponent(third), size: Number(searchParams.get('size') ?? 1) }),
    nonce: searchParams.get('nonce') ?? undefined,
    date: searchParams.get('at') ?? undefined,
  };
}

function send(response, request, { status = 200, json, text, headers = {}, nonce = request.nonce ?? null }) {
  const body = text ?? (json === undefined ? '' : JSON.stringify(json));
  response.writeHead(status, {
    'content-type': status < 300 ? 'application/json' : 'application/problem+json',
    'cache-control': 'no-store',
    'content-length': Buffer.byteLength(body),
    ...(nonce !== null && request.kind !== 'window' && { 'leaf-nonce': nonce }),
    ...headers,
  });
  response.end(body);
}

/** The refusal of a Leaf server. */
export function refusal(status, code, retryAfter) {
  const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  return { status, headers, json: { type: 'about:blank', title: code, status, code, detail: `The kit: ${code}.` } };
}

/** The refusal of something in front of the servers. */
export function proxyRefusal(status, retryAfter) {
  const headers = {
    'content-type': 'text/html',
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
  };
  return { status, headers, text: '<h1>Service Unavailable</h1>' };
}
