import { createSign, generateKeyPairSync } from 'node:crypto';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '@leaf-ids/core';
import { HttpEndpoint } from '@leaf-ids/core/internal';
import { ROOT } from '../../build';
import { only, readManifest } from '../../manifests';
import { requireTool } from '../../tools';
import type { EtcdServer } from '../etcd';
import { guarded, PrivateServer, serverDirectory } from '../private-server';
import { exists, run } from '../services';

const MODULE = join(ROOT, 'test/kubernetes/kube-apiserver');
const PROGRAM = join(ROOT, 'node_modules/.cache/leaf-kube-apiserver/kube-apiserver');
const PACKAGE = 'k8s.io/kubernetes/cmd/kube-apiserver';
const ADMIN_TOKEN = 'admin';
const ISSUER = 'https://kubernetes.default.svc';
const ANSWER_LIMIT_MS = 10_000;

export interface ApiAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What Kubernetes mounts into the pods of a namespace. */
export interface MountedAccount {
  readonly namespace: string;
  readonly directory: string;
  /** Mounts a token that expires after some seconds, negative for one that has expired. */
  readonly mountToken: (seconds: number) => Promise<void>;
}

/** The API server of Kubernetes, with RBAC, on an etcd; no controllers and no nodes. */
export class KubeApiServer extends PrivateServer {
  private readonly keys = generateKeyPairSync('rsa', { modulusLength: 2048 });

  constructor(
    directory: string,
    private readonly program: readonly string[],
    private readonly etcd: EtcdServer,
  ) {
    super(directory);
  }

  get url(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  createDatabase(): Promise<string> {
    return Promise.resolve(this.url);
  }

  /** Creates a namespace with the account `leaf`, which has the rights of `deployment-leases.yaml`. */
  async createAccount(namespace: string): Promise<MountedAccount> {
    await this.ask('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    const account = await this.ask('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, {
      metadata: { name: 'leaf' },
    });
    const { uid } = account.body.metadata as { readonly uid: string };
    await this.grant(namespace);
    const directory = await mkdtemp(join(tmpdir(), 'leaf-account-'));
    await writeFile(join(directory, 'namespace'), namespace);
    await writeFile(join(directory, 'ca.crt'), await readFile(this.certificate));
    const mountToken = (seconds: number): Promise<void> =>
      writeFile(join(directory, 'token'), this.token({ namespace, uid }, seconds));
    await mountToken(3600);
    return { namespace, directory, mountToken };
  }

  /** Creates the Role and its binding. */
  async grant(namespace: string): Promise<void> {
    const objects = readManifest('deployment-leases');
    for (const kind of ['Role', 'RoleBinding']) {
      const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/${kind.toLowerCase()}s`;
      await this.ask('POST', path, only(kind, objects));
    }
  }

  /** A request of the administrator, or with another token. */
  async ask(method: string, path: string, body?: object, token = ADMIN_TOKEN): Promise<ApiAnswer> {
    const certificates = async (): Promise<{ ca: string }> => ({ ca: await readFile(this.certificate, 'utf8') });
    const endpoint = new HttpEndpoint(
      new URL(this.url),
      { maxBytes: 10_000_000, keepAliveMs: 1, certificates },
      new SystemClock(),
    );
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const request = { method, path, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const { status, text } = await endpoint.request(request, ANSWER_LIMIT_MS);
    return { status, body: text.startsWith('{') ? (JSON.parse(text) as ApiAnswer['body']) : { text } };
  }

  protected override async configure(): Promise<void> {
    await mkdir(this.dataDirectory, { recursive: true });
    await writeFile(this.keyFile, this.keys.privateKey.export({ type: 'pkcs8', format: 'pem' }));
    await writeFile(join(this.dataDirectory, 'tokens.csv'), `${ADMIN_TOKEN},admin,1,"system:masters"\n`);
  }

  protected override command(): string[] {
    return [
      ...[...this.program, '--etcd-servers', this.etcd.endpoint, '--authorization-mode', 'RBAC'],
      ...['--bind-address', '127.0.0.1', '--secure-port', String(this.port), '--cert-dir', this.dataDirectory],
      ...['--service-account-issuer', ISSUER, '--service-account-key-file', this.keyFile],
      ...['--service-account-signing-key-file', this.keyFile, '--service-cluster-ip-range', '10.0.0.0/24'],
      ...['--token-auth-file', join(this.dataDirectory, 'tokens.csv'), '--disable-admission-plugins', 'ServiceAccount'],
    ];
  }

  /** The certificate is made at the first start of this server: an answer that it covers is from this server. */
  protected override async askDataDirectory(): Promise<string> {
    const { status } = await this.ask('GET', '/readyz');
    return status === 200 ? this.dataDirectory : '';
  }

  private get certificate(): string {
    return join(this.dataDirectory, 'apiserver.crt');
  }

  private get keyFile(): string {
    return join(this.dataDirectory, 'account.key');
  }

  private token({ namespace, uid }: { readonly namespace: string; readonly uid: string }, seconds: number): string {
    const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
    const exp = Math.floor(Date.now() / 1000) + seconds;
    const iat = exp - 7200;
    const claims = {
      ...{ iss: ISSUER, aud: [ISSUER], sub: `system:serviceaccount:${namespace}:leaf`, exp, iat, nbf: iat },
      'kubernetes.io': { namespace, serviceaccount: { name: 'leaf', uid } },
    };
    const text = `${encode({ alg: 'RS256' })}.${encode(claims)}`;
    return `${text}.${createSign('RSA-SHA256').update(text).sign(this.keys.privateKey, 'base64url')}`;
  }
}

export async function startKubeApiServer(etcd: EtcdServer): Promise<KubeApiServer> {
  const directory = await serverDirectory(undefined, (data) => mkdir(data, { mode: 0o700 }));
  const server = new KubeApiServer(directory, await guarded([PROGRAM]), etcd);
  await server.start();
  return server;
}

/** Builds the API server from its Go module, which takes a quarter of an hour; later calls take seconds. */
export async function buildKubeApiServer(): Promise<void> {
  if (await exists(PROGRAM)) return;
  const go = await requireTool('go');
  process.stderr.write(`Building ${PACKAGE} …\n`);
  const env = { ...process.env, CGO_ENABLED: '0' };
  await run(go, ['build', '-trimpath', '-ldflags', '-s -w', '-o', PROGRAM, PACKAGE], { cwd: MODULE, env });
}
