import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

type Verb = 'list' | 'create' | 'update';

interface Lease {
  metadata: {
    name: string;
    uid?: string;
    resourceVersion?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  spec?: { holderIdentity?: string; leaseDurationSeconds?: number; renewTime?: string };
}

interface Answer {
  readonly status: number;
  readonly body: object;
  readonly headers?: Record<string, string>;
}

const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

/**
 * A stand-in for the API server of Kubernetes, for Leases in one namespace. It follows the rules of the real one as they
 * are documented; `npx jest --selectProjects kubernetes` compares its answers with those of version 1.36: optimistic locking with `resourceVersion` (409), an update
 * without it (422), a UID as a precondition (409), an update of a missing Lease, which creates it unless there is a
 * UID, invalid fields (400, 422), names in use (409), expired tokens (401), missing rights (403), throttling (429 with
 * `Retry-After`), and pages of a list that expire (410). It has no watches, and no namespaces that are being deleted.
 */
export class KubernetesApi {
  /** What the service account may do. */
  readonly verbs = new Set<Verb>(['list', 'create', 'update']);
  /** Requests that get 429 before others are served. */
  throttled = 0;
  /** `Retry-After` of these, in seconds. */
  retryAfter = 1;
  /** Whether it answers no request, and executes none. */
  away = false;
  /** Whether pages expire before they are read, and Leases are deleted when they were created. */
  shortLived = false;
  /** How many requests were received. */
  requests = 0;
  /** Answers to these requests are lost: their connections end after they were executed. */
  lost = 0;
  readonly leases = new Map<string, Lease>();

  private token = '';
  private revision = 1;
  private snapshots = new Map<string, { readonly rest: Lease[]; readonly revision: number }>();

  private constructor(
    private readonly server: Server,
    /** What Kubernetes mounts into a pod. */
    readonly directory: string,
    readonly namespace: string,
  ) {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void this.serve(request, response));
  }

  /** @param tls certificate and key for `127.0.0.1`; HTTP without them */
  static async start(tls?: { readonly cert: string; readonly key: string }): Promise<KubernetesApi> {
    const namespace = 'shop';
    const server = (tls === undefined ? createServer() : createTlsServer(tls)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const api = new KubernetesApi(server, await mkdtemp(join(tmpdir(), 'leaf-kubernetes-')), namespace);
    await writeFile(join(api.directory, 'namespace'), namespace);
    await api.rotate();
    return api;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `${this.server instanceof TlsServer ? 'https' : 'http'}://127.0.0.1:${this.port}`;
  }

  private get root(): string {
    return `/apis/coordination.k8s.io/v1/namespaces/${this.namespace}/leases`;
  }

  /** Deletes all Leases, as with their namespace, which is then created again. */
  wipe(): void {
    this.leases.clear();
  }

  /** Copies the Leases; the result restores them, with the version that the server had. */
  backUp(): () => void {
    const [leases, revision] = [structuredClone([...this.leases]), this.revision];
    return () => {
      this.wipe();
      for (const [name, lease] of leases) this.leases.set(name, lease);
      this.revision = revision;
    };
  }

  /** Expires the token; the next one is mounted unless `mount` is false. */
  async rotate(mount = true): Promise<void> {
    this.token = randomUUID();
    if (mount) await writeFile(join(this.directory, 'token'), `${this.token}\n`);
  }

  /** Lets the pages of lists expire that have been begun. */
  compact(): void {
    this.snapshots.clear();
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
    await rm(this.directory, { recursive: true });
  }

  /** A request for the Leases, without a connection. */
  ask(method: string, path: string, body?: object): Promise<{ readonly status: number; readonly body: object }> {
    const headers = { authorization: `Bearer ${this.token}` };
    return Promise.resolve(this.answer({ method, url: this.root + path, headers }, JSON.stringify(body)));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    this.requests++;
    if (this.away) {
      response.destroy();
      return;
    }
    const { status, body, headers = {} } = this.answer(request, Buffer.concat(parts).toString());
    if (this.lost > 0) {
      this.lost--;
      response.destroy();
      return;
    }
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  }

  private answer(
    { method, url = '', headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
    text: string,
  ): Answer {
    if (this.throttled > 0) {
      this.throttled--;
      const retry = { 'retry-after': String(this.retryAfter) };
      return { ...refusal(429, 'TooManyRequests', 'too many requests, please try again later'), headers: retry };
    }
    if (headers.authorization !== `Bearer ${this.token}`) return refusal(401, 'Unauthorized', 'Unauthorized');
    const { pathname, searchParams } = new URL(url, this.url);
    const root = this.root;
    const name = pathname.startsWith(`${root}/`) ? pathname.slice(root.length + 1) : '';
    const verb = { GET: 'list', POST: 'create', PUT: 'update' }[method ?? ''] as Verb | undefined;
    if (verb === undefined || (pathname !== root && name === '')) {
      return refusal(404, 'NotFound', 'the server could not find the requested resource');
    }
    if (!this.verbs.has(verb)) {
      const user = `system:serviceaccount:${this.namespace}:leaf`;
      const what = `resource "leases" in API group "coordination.k8s.io" in the namespace "${this.namespace}"`;
      return refusal(403, 'Forbidden', `leases is forbidden: User "${user}" cannot ${verb} ${what}`);
    }
    if (verb === 'list') return this.list(searchParams);
    const lease = JSON.parse(text) as Lease;
    return invalidity(lease) ?? (verb === 'create' ? this.create(lease) : this.update(name, lease));
  }

  private list(query: URLSearchParams): Answer {
    const next = query.get('continue');
    const begun = next === null ? { rest: this.select(query), revision: this.revision } : this.snapshots.get(next);
    if (begun === undefined && !/^[\da-f-]{36}$/.test(next ?? '')) {
      return refusal(400, 'BadRequest', 'invalid continue token');
    }
    if (begun === undefined) {
      return refusal(410, 'Expired', 'The provided continue parameter is too old to display a consistent list result.');
    }
    const { rest, revision } = begun;
    const limit = Number(query.get('limit') ?? Infinity);
    const [items, left] = [rest.slice(0, limit), rest.slice(limit)];
    const token = left.length === 0 ? undefined : randomUUID();
    if (token !== undefined && !this.shortLived) this.snapshots.set(token, { rest: left, revision });
    const metadata = { resourceVersion: String(revision), ...(token && { continue: token }) };
    return { status: 200, body: { kind: 'LeaseList', apiVersion: 'coordination.k8s.io/v1', metadata, items } };
  }

  private select(query: URLSearchParams): Lease[] {
    const labels = pairsOf(query.get('labelSelector'));
    const name = pairsOf(query.get('fieldSelector')).find(([field]) => field === 'metadata.name')?.[1];
    const found = [...this.leases.values()].filter(({ metadata }) => {
      const isNamed = name === undefined || metadata.name === name;
      return isNamed && labels.every(([label = '', value]) => metadata.labels?.[label] === value);
    });
    return structuredClone(found);
  }

  private create(lease: Lease): Answer {
    const { name, resourceVersion } = lease.metadata;
    if (resourceVersion !== undefined) {
      return refusal(500, '', 'resourceVersion should not be set on objects to be created');
    }
    if (this.leases.has(name)) return refusal(409, 'AlreadyExists', `leases "${name}" already exists`);
    return this.store(201, { ...lease, metadata: { ...lease.metadata, uid: randomUUID() } });
  }

  private update(name: string, lease: Lease): Answer {
    const { uid, resourceVersion } = lease.metadata;
    if (lease.metadata.name !== name)
      return refusal(400, 'BadRequest', 'the name of the object does not match the URL');
    const stored = this.leases.get(name);
    const found = stored?.metadata;
    if (uid !== undefined && uid !== found?.uid) {
      return refusal(
        409,
        'Conflict',
        `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${found?.uid}`,
      );
    }
    if (found === undefined)
      return this.create({ ...lease, metadata: { ...lease.metadata, resourceVersion: undefined! } });
    if (resourceVersion === undefined) {
      return refusal(422, 'Invalid', 'metadata.resourceVersion: Invalid value: 0x0: must be specified for an update');
    }
    if (resourceVersion !== found.resourceVersion) {
      return refusal(409, 'Conflict', 'the object has been modified; please apply your changes to the latest version');
    }
    const written = { ...lease, metadata: { ...lease.metadata, uid: found.uid! } };
    // A write that changes nothing keeps the version.
    if (isDeepStrictEqual(written, stored)) return { status: 200, body: written };
    return this.store(200, written);
  }

  private store(status: number, lease: Lease): Answer {
    const resourceVersion = String(++this.revision);
    const stored = { ...lease, metadata: { ...lease.metadata, resourceVersion } };
    if (!this.shortLived) this.leases.set(lease.metadata.name, stored);
    return { status, body: stored };
  }
}

function pairsOf(selector: string | null): string[][] {
  return selector === null ? [] : selector.split(',').map((pair) => pair.split('='));
}

function invalidity({ metadata, spec = {} }: Lease): Answer | undefined {
  const { leaseDurationSeconds: seconds, renewTime } = spec;
  if (!NAME.test(metadata.name))
    return refusal(422, 'Invalid', 'metadata.name: Invalid value: a lowercase RFC 1123 name');
  if (renewTime !== undefined && !MICRO_TIME.test(renewTime)) {
    return refusal(400, 'BadRequest', `parsing time "${renewTime}" as "2006-01-02T15:04:05.000000Z07:00"`);
  }
  if (seconds !== undefined && (!Number.isInteger(seconds) || seconds > 2 ** 31 - 1)) {
    return refusal(400, 'BadRequest', `json: cannot unmarshal number ${seconds} into field of type int32`);
  }
  if (seconds !== undefined && seconds <= 0) {
    return refusal(422, 'Invalid', 'spec.leaseDurationSeconds: Invalid value: must be greater than 0');
  }
  const labels = Object.values(metadata.labels ?? {});
  if (labels.some((value) => !/^([A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?)?$/.test(value))) {
    return refusal(422, 'Invalid', 'metadata.labels: Invalid value');
  }
  return undefined;
}

function refusal(code: number, reason: string, message: string): Answer {
  const cause = reason === '' ? {} : { reason };
  const body = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, ...cause, code };
  return { status: code, body };
}
