import type { Clock, LeafError, RandomSource, TimeSource } from '@leaf-ids/core';
import { HttpEndpoint, type HttpReply, messageOf, parseObject } from '@leaf-ids/core/internal';
import { type CertificateFiles, readCertificates } from '../shared/certificate-files';
import { serverClock } from '../shared/server-clock';
import { unavailable, unusable } from '../shared/store-errors';
import type { EtcdCredentials } from './etcd-address';

export interface EtcdClientOptions {
  readonly endpoints: readonly URL[];
  readonly credentials?: EtcdCredentials;
  readonly certificates?: CertificateFiles;
  /** Limit for a request to one endpoint, in milliseconds. */
  readonly callMs: number;
}

/** Origin of a response. */
export interface EtcdHeader {
  /** ID of the cluster. */
  readonly source: string;
  readonly member: string;
  readonly revision: number;
}

export interface EtcdReply {
  readonly header: EtcdHeader;
  /** Whether an earlier attempt without a response may have executed the request. */
  readonly repeated: boolean;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The largest response, with all records of a pool, has less than 1 MB. */
const CONNECTION = { maxBytes: 16_777_216, keepAliveMs: 30_000 };
/** Codes of gRPC. */
const INVALID_ARGUMENT = 3;
const UNAUTHENTICATED = 16;
/** The setting of the cluster changed after the token was issued. */
const OLD_TOKEN = 'revision of auth store is old';
const NOT_ENABLED = 'authentication is not enabled';
const REMEDY =
  'Check the option snowflake.registry.etcd.auth and the option snowflake.registry.etcd.endpoints. The role of the user must allow reading and writing the keys of Leaf.';

/**
 * Requests to the JSON gateway of an etcd cluster. A request without a response, or that the endpoint cannot serve now,
 * goes to the next endpoint, which is then used first. So a write may be executed twice: use transactions that compare.
 */
export class EtcdClient {
  /** The endpoints, for errors and logs. */
  readonly description: string;
  private readonly endpoints: readonly HttpEndpoint[];
  private current: number;
  private token: Promise<string> | undefined;

  constructor(
    private readonly options: EtcdClientOptions,
    clock: Clock,
    random: RandomSource,
  ) {
    const { endpoints, certificates = {} } = options;
    const connection = { ...CONNECTION, certificates: () => readCertificates(certificates) };
    this.description = endpoints.map(({ origin }) => origin).join(',');
    this.endpoints = endpoints.map((url) => new HttpEndpoint(url, connection, clock));
    this.current = random(endpoints.length);
  }

  /**
   * @throws LeafError `LEAF_REGISTRY_UNREACHABLE`: the request may have been executed; `LEAF_CONFIG_INVALID` if etcd
   *   denies it
   */
  async call(path: string, body: object): Promise<EtcdReply> {
    const problems: string[] = [];
    // One endpoint is asked twice: it may have closed an idle connection.
    for (let tries = Math.max(2, this.endpoints.length); tries > 0; tries--) {
      const index = this.current;
      const endpoint = this.endpoints[index] as HttpEndpoint;
      try {
        return { ...toReply(await this.send(endpoint, path, body)), repeated: problems.length > 0 };
      } catch (error) {
        if (error instanceof EtcdDenial) throw this.denied(error);
        problems.push(`${endpoint.url.host}: ${messageOf(error)}`);
        if (this.current === index) this.current = (index + 1) % this.endpoints.length;
      }
    }
    throw unavailable(this.description, `${[...new Set(problems)].join('; ')}.`);
  }

  timeSources(): TimeSource[] {
    const path = '/v3/maintenance/status';
    return this.endpoints.map((endpoint) => ({
      name: endpoint.url.host,
      ask: async () => serverClock(await this.post(endpoint, path, {}, await this.authorize(endpoint))),
    }));
  }

  /** Aborts all requests and closes the connections. */
  close(): void {
    for (const endpoint of this.endpoints) endpoint.close();
  }

  private async send(endpoint: HttpEndpoint, path: string, body: object): Promise<HttpReply> {
    const token = await this.authorize(endpoint);
    const reply = await this.post(endpoint, path, body, token);
    if (token === undefined || !isOldToken(reply)) return refuseFault(reply);
    // A token expires, and a member that was restarted may not know it.
    this.token = undefined;
    return refuseFault(await this.post(endpoint, path, body, await this.authorize(endpoint)));
  }

  private post(endpoint: HttpEndpoint, path: string, body: object, token: string | undefined): Promise<HttpReply> {
    const headers = { 'content-type': 'application/json', ...(token && { authorization: token }) };
    return endpoint.request({ method: 'POST', path, headers, body: JSON.stringify(body) }, this.options.callMs);
  }

  /** Undefined without credentials; empty if the cluster needs none. */
  private async authorize(endpoint: HttpEndpoint): Promise<string | undefined> {
    const { credentials } = this.options;
    if (credentials === undefined) return undefined;
    const token = (this.token ??= this.authenticate(endpoint, credentials));
    token.catch(() => {
      if (this.token === token) this.token = undefined;
    });
    return token;
  }

  private async authenticate(endpoint: HttpEndpoint, { user, password }: EtcdCredentials): Promise<string> {
    const reply = await this.post(endpoint, '/v3/auth/authenticate', { name: user, password }, undefined);
    if (faultOf(reply).message.includes(NOT_ENABLED)) return '';
    const { token } = parseObject(refuseFault(reply).text);
    if (typeof token !== 'string') throw new Error('it has returned no token');
    return token;
  }

  private denied(error: EtcdDenial): LeafError {
    return unusable(this.description, `${error.message}. ${REMEDY}`, error);
  }
}

/** A refusal that another attempt does not change. */
class EtcdDenial extends Error {
  override readonly name = 'EtcdDenial';
}

function isOldToken(reply: HttpReply): boolean {
  const { code, message } = faultOf(reply);
  return code === UNAUTHENTICATED || message.includes(OLD_TOKEN);
}

function faultOf({ status, text }: HttpReply): { readonly code: number; readonly message: string } {
  if (status === 200) return { code: 0, message: '' };
  // The gateway of etcd 3.4 appends trailers to the JSON.
  const { code, message } = parseObject(text.slice(0, text.lastIndexOf('}') + 1));
  return { code: Number(code ?? -1), message: typeof message === 'string' ? message : `status ${status}` };
}

/**
 * @throws EtcdDenial for a refusal; Error for a fault that another endpoint or a later attempt may not have
 */
function refuseFault(reply: HttpReply): HttpReply {
  if (reply.status === 200) return reply;
  const { code, message } = faultOf(reply);
  const isDenied = [401, 403, 404].includes(reply.status) || code === INVALID_ARGUMENT;
  throw isDenied ? new EtcdDenial(message) : new Error(message);
}

function toReply({ text }: HttpReply): Omit<EtcdReply, 'repeated'> {
  const body = parseObject(text);
  const { cluster_id: source, member_id: member, revision } = (body.header ?? {}) as Record<string, unknown>;
  if (typeof source !== 'string' || typeof member !== 'string' || typeof revision !== 'string') {
    throw new Error('the response is not that of etcd 3.4 or later');
  }
  return { header: { source, member, revision: Number(revision) }, body };
}
