/** A request for the Leases of a namespace: `{uid a}` and `{version a}` are those of the Lease in the latest answer for it. */
export interface LeaseRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly lease?: object;
}

interface Metadata {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

interface LeaseBody {
  readonly metadata?: Metadata;
  readonly reason?: string;
  readonly items?: readonly { readonly metadata: Metadata }[];
}

export type AskLeases = (
  method: string,
  path: string,
  body?: object,
) => Promise<{ readonly status: number; readonly body: object }>;

const lease = (name: string, metadata = {}, spec = {}): object => ({
  ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
  ...{ metadata: { name, ...metadata }, spec },
});
const post = (...given: Parameters<typeof lease>): LeaseRequest => ({
  method: 'POST',
  path: '',
  lease: lease(...given),
});
const put = (...given: Parameters<typeof lease>): LeaseRequest => ({
  ...{ method: 'PUT', path: `/${given[0]}` },
  lease: lease(...given),
});
const get = (path: string): LeaseRequest => ({ method: 'GET', path });
const CURRENT = { uid: '{uid a}', resourceVersion: '{version a}' };
const NO_UID = '00000000-0000-0000-0000-000000000000';

/** What the registry sends, and what it must never get an answer to. */
export const LEASE_REQUESTS: readonly LeaseRequest[] = [
  post('a', { labels: { x: 'y' } }),
  post('a'),
  post('b', { resourceVersion: '5' }),
  put('a'),
  put('a', { resourceVersion: '1' }),
  put('a', { uid: NO_UID, resourceVersion: '{version a}' }),
  put('a', CURRENT, { holderIdentity: 'h', leaseDurationSeconds: 60, renewTime: '2026-01-01T00:00:00.000000Z' }),
  put('a', CURRENT, { holderIdentity: 'i' }),
  // The same once more: the version stays.
  put('a', CURRENT, { holderIdentity: 'i' }),
  put('missing', { uid: NO_UID, resourceVersion: '7' }),
  put('missing', { uid: NO_UID }),
  put('made', { resourceVersion: '7' }),
  put('made-too'),
  { method: 'PUT', path: '/a', lease: lease('other') },
  post('Q_'),
  post('r', {}, { renewTime: '2026-01-01T00:00:00Z' }),
  post('r', {}, { renewTime: '2026-01-01T00:00:00.000Z' }),
  post('s', {}, { leaseDurationSeconds: 0 }),
  post('s', {}, { leaseDurationSeconds: 1.5 }),
  post('s', { labels: { x: '-' } }),
  get(''),
  get('?limit=1'),
  get('?labelSelector=x%3Dy'),
  get('?fieldSelector=metadata.name%3Da'),
  get('?fieldSelector=metadata.name%3Dnone'),
  get('?limit=1&continue=x'),
];

/** Sends the requests in turn; the result has all that does not depend on the server. */
export async function play(requests: readonly LeaseRequest[], ask: AskLeases): Promise<string[]> {
  const known = new Map<string, Metadata>();
  const seen: string[] = [];
  for (const { method, path, lease: given } of requests) {
    const sent = JSON.stringify(given ?? null).replace(/\{(uid|version) (\w+)\}/g, (_, field: string, name: string) => {
      const metadata = known.get(name);
      return (field === 'uid' ? metadata?.uid : metadata?.resourceVersion) ?? '';
    });
    const { status, body } = await ask(method, path, (JSON.parse(sent) as object | null) ?? undefined);
    const { metadata, reason = '', items = [] } = body as LeaseBody;
    let version = '';
    if (metadata?.uid !== undefined) {
      version = known.get(metadata.name)?.resourceVersion === metadata.resourceVersion ? 'same version' : 'new version';
      known.set(metadata.name, metadata);
    }
    const names = items.map((item) => item.metadata.name).sort();
    seen.push([method, path, JSON.stringify(given), status, reason, version, ...names].join(' '));
  }
  return seen;
}
