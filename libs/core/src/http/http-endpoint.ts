import { Agent, type ClientRequest, type IncomingHttpHeaders, request } from 'node:http';
import { Agent as TlsAgent, request as requestTls } from 'node:https';
import type { Clock } from '../clock/clock';
import { withinDeadline } from '../util/deadline';

/** Certificates in PEM. */
export interface TlsCertificates {
  /** The trusted authorities; by default those that Node.js trusts. */
  readonly ca?: string;
  /** Certificate of the client. */
  readonly cert?: string;
  readonly key?: string;
}

export interface HttpEndpointOptions {
  /** Limit for one response body. */
  readonly maxBytes: number;
  /** Closes idle connections. Shorter than the keep-alive of the server, so that no request uses a closing connection. */
  readonly keepAliveMs: number;
  /** Called before the first connection, and again after a failed request: certificates may be replaced meanwhile. */
  readonly certificates?: () => Promise<TlsCertificates>;
}

export interface HttpRequest {
  /** `GET` by default. */
  readonly method?: string;
  /** Appended to the path of the endpoint, with a query string. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface HttpReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/**
 * The connections to one server: one for each concurrent request, kept open for the next. It does not follow redirects,
 * and limits the size and duration of a response. It uses `node:http`, which Bun and Deno have, too.
 */
export class HttpEndpoint {
  private readonly target: { readonly hostname: string; readonly port: string };
  private readonly send: typeof request;
  private readonly path: string;
  private readonly pending = new Set<ClientRequest>();
  private agent: Promise<Agent> | undefined;
  private closed = false;

  /** @param url base URL of the paths */
  constructor(
    readonly url: URL,
    private readonly options: HttpEndpointOptions,
    private readonly clock: Clock,
  ) {
    this.send = url.protocol === 'https:' ? requestTls : request;
    this.target = { hostname: url.hostname.replace(/^\[|\]$/g, ''), port: url.port };
    this.path = url.pathname.replace(/\/+$/, '');
  }

  /**
   * Sends a request; resolves with the response, whatever its status is.
   *
   * @param timeoutMs limit for the response with its body, for the message
   * @param deadline the end of that limit, in monotonic milliseconds
   * @throws Error if the response is not complete in time; the server may have executed the request
   */
  async request(
    { method = 'GET', path, headers = {}, body }: HttpRequest,
    timeoutMs: number,
    deadline = this.clock.monotonic() + timeoutMs,
  ): Promise<HttpReply> {
    const agent = (this.agent ??= this.connect());
    let sent: ClientRequest | undefined;
    try {
      const to = { ...this.target, agent: await agent, path: this.path + path, method };
      if (this.closed) throw new Error('the client is closed');
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      sent = this.send({ ...to, headers: { ...headers, ...length } });
      this.pending.add(sent);
      const reply = replyTo(sent, body, this.options.maxBytes);
      if (await withinDeadline(reply, deadline, this.clock)) return await reply;
      throw new Error(`timed out after ${timeoutMs} ms`);
    } catch (error) {
      sent?.destroy();
      if (this.options.certificates !== undefined && this.agent === agent) this.agent = undefined;
      throw error;
    } finally {
      if (sent !== undefined) this.pending.delete(sent);
    }
  }

  /** Aborts all requests and closes the connections. */
  close(): void {
    this.closed = true;
    for (const sent of this.pending) sent.destroy();
    void this.agent?.then(
      (agent) => agent.destroy(),
      () => undefined,
    );
  }

  private async connect(): Promise<Agent> {
    const { keepAliveMs, certificates } = this.options;
    const common = { keepAlive: true, timeout: keepAliveMs };
    if (this.url.protocol !== 'https:') return new Agent(common);
    return new TlsAgent({ ...common, ...(await certificates?.()) });
  }
}

function replyTo(sent: ClientRequest, body: string | undefined, maxBytes: number): Promise<HttpReply> {
  return new Promise((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', (response) => {
      const parts: Buffer[] = [];
      let size = 0;
      response.on('error', reject);
      // After `end`, this changes nothing.
      response.on('close', () => reject(new Error('the connection was closed within the response')));
      response.on('data', (part: Buffer) => {
        size += part.length;
        if (size > maxBytes) reject(new Error(`the response exceeds ${maxBytes} bytes`));
        else parts.push(part);
      });
      response.on('end', () => {
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, text: Buffer.concat(parts).toString() });
      });
    });
    sent.end(body);
  });
}

/** The form in which servers announce themselves: a name or an address, and a port. */
const SERVER_URL = /^http:\/\/(?:[\w.-]+|\[[\da-f:.]+\]):\d{1,5}\/?$/i;
/** Addresses at which clouds serve metadata, as the URL parser writes them. IPv4 also appears in IPv6, mapped or NAT64. */
const METADATA = [
  /^(?:169\.254\.|\[(?:::ffff|64:ff9b:):a9fe:)/, // link-local
  /^\[fe[89ab][\da-f]:/, // link-local
  /^\[fd(?:00:ec2|20:ce)::/, // AWS, Google Cloud
  /^(?:100\.100\.100\.200$|\[(?:::ffff|64:ff9b:):6464:64c8\])/, // Alibaba Cloud
  /^(?:168\.63\.129\.16$|\[(?:::ffff|64:ff9b:):a83f:8110\])/, // Azure
];

/**
 * Whether a server may send requests to this URL of another server. Any client that can write to the registry could add
 * URLs, so only URLs of the form that Leaf servers use are accepted.
 */
export function isServerUrl(url: unknown): url is string {
  if (typeof url !== 'string' || !SERVER_URL.test(url) || !URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return !METADATA.some((addresses) => addresses.test(hostname));
}
