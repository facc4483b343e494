import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, LeafError, TimeSource } from '@leaf-ids/core';
import { HttpEndpoint, type HttpReply, messageOf, parseObject } from '@leaf-ids/core/internal';
import { readCertificates } from '../shared/certificate-files';
import { serverClock } from '../shared/server-clock';
import { unavailable, unusable } from '../shared/store-errors';

export interface KubernetesClientOptions {
  /** Base URL of the API server. */
  readonly server: URL;
  /** Directory with the files `token`, `ca.crt` and `namespace`, as Kubernetes mounts them into a pod. */
  readonly directory: string;
  /** Limit for a request, in milliseconds. */
  readonly callMs: number;
}

export interface KubernetesReply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** Whether an earlier attempt without a result may have executed the request. */
  readonly repeated: boolean;
}

/** The largest response, a page of records, has less than 1 MB. */
const CONNECTION = { maxBytes: 16_777_216, keepAliveMs: 30_000 };
/** Attempts at a request that is not executed or not answered. */
const ATTEMPTS = 3;
/** Longest wait for a throttling server within a call. */
const MAX_RETRY_AFTER_MS = 5000;
/** The statuses that are results: done, a conflict, an expired page. */
const RESULTS = [200, 201, 409, 410];
const NOT_FOUND = 404;
const RULES =
  'The service account of the pod needs a Role with the verbs list, create and update on the resource leases of coordination.k8s.io in this namespace, and its token must be mounted: docs/operations/containers.md#the-registry-kubernetes.';

/**
 * Requests for the Leases of the namespace of this pod. The token is read for each request, because Kubernetes replaces
 * it. A request that is not answered is sent again, so a write may be executed twice: each write must be conditional.
 */
export class KubernetesClient {
  readonly description: string;
  private readonly endpoint: HttpEndpoint;
  private readonly closing = new AbortController();

  constructor(
    private readonly options: KubernetesClientOptions,
    private readonly clock: Clock,
  ) {
    const { server, directory } = options;
    const certificates = (): Promise<object> => readCertificates({ caFile: join(directory, 'ca.crt') });
    this.description = server.origin;
    this.endpoint = new HttpEndpoint(server, { ...CONNECTION, certificates }, clock);
  }

  /**
   * @param path relative to the Leases of the namespace: empty, `/name` or `?query`
   * @returns the result, or a conflict (409), or that a page has expired (410) or a Lease to replace does not exist (404)
   * @throws LeafError `LEAF_REGISTRY_UNREACHABLE`: the request may have been executed; `LEAF_CONFIG_INVALID` if the
   *   server denies it
   */
  async call(method: string, path: string, body?: object): Promise<KubernetesReply> {
    for (let attempt = 1; ; attempt++) {
      const reply = await this.send(method, path, body).catch((error: unknown) => messageOf(error));
      if (typeof reply !== 'string' && isResult(method, reply)) {
        return { status: reply.status, body: parseObject(reply.text), repeated: attempt > 1 };
      }
      const retryAfterMs = typeof reply === 'string' ? 0 : retryAfterOf(reply);
      if (retryAfterMs === undefined) throw this.denied(reply as HttpReply);
      if (attempt === ATTEMPTS || this.closing.signal.aborted) throw this.failed(reply, retryAfterMs);
      await this.clock.sleep(Math.min(retryAfterMs, MAX_RETRY_AFTER_MS), this.closing.signal);
    }
  }

  timeSources(): TimeSource[] {
    const ask = async (): Promise<number> => serverClock(await this.send('GET', '?limit=1'));
    return [{ name: 'the API server of Kubernetes', ask }];
  }

  /** Aborts all requests and closes the connections. */
  close(): void {
    this.closing.abort();
    this.endpoint.close();
  }

  private async send(method: string, path: string, body?: object): Promise<HttpReply> {
    const namespace = await this.read('namespace');
    const headers = {
      accept: 'application/json',
      authorization: `Bearer ${await this.read('token')}`,
      ...(body && { 'content-type': 'application/json' }),
    };
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases${path}`;
    const request = { method, path: leases, headers, ...(body && { body: JSON.stringify(body) }) };
    return this.endpoint.request(request, this.options.callMs);
  }

  private async read(file: string): Promise<string> {
    const path = join(this.options.directory, file);
    try {
      return (await readFile(path, 'utf8')).trim();
    } catch (error) {
      throw new Error(`cannot read ${path}; the pod needs automountServiceAccountToken: true`, { cause: error });
    }
  }

  private failed(reply: HttpReply | string, retryAfterMs: number): LeafError {
    const problem = typeof reply === 'string' ? reply : problemOf(reply);
    return unavailable(this.description, `${problem}.`, undefined, Math.max(1000, retryAfterMs));
  }

  private denied(reply: HttpReply): LeafError {
    return unusable(this.description, `${problemOf(reply)}.${reply.status === 403 ? ` ${RULES}` : ''}`);
  }
}

function isResult(method: string, { status }: HttpReply): boolean {
  return RESULTS.includes(status) || (method === 'PUT' && status === NOT_FOUND);
}

/**
 * When to send a request again, in milliseconds; undefined if the server refuses it for good. A token may have expired:
 * the next attempt reads its file again.
 */
function retryAfterOf({ status, headers }: HttpReply): number | undefined {
  if (status < 500 && status !== 429 && status !== 401) return undefined;
  const seconds = Number(headers['retry-after'] ?? 0);
  return Number.isFinite(seconds) ? seconds * 1000 : 0;
}

function problemOf({ status, text }: HttpReply): string {
  const { message } = parseObject(text);
  return typeof message === 'string' ? `Status ${status}: ${message}` : `Status ${status}`;
}
