import {
  type Clock,
  formatInstance,
  type RegistryDocument,
  type StoredRegistry,
  type TimeSource,
  type WorkerRecord,
} from '@leaf-ids/core';
import { parseArray } from '@leaf-ids/core/internal';
import { encodePoolRecord, type PoolEntry, PoolStore, type PoolWrite } from '../shared/pool-store';
import { unavailable } from '../shared/store-errors';
import { StoreHistory, type StoreRevision } from '../shared/store-history';
import type { KubernetesClient } from './kubernetes-client';

/** The parts of a Lease of `coordination.k8s.io/v1` that Leaf reads. */
interface LeaseObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** Which Lease to write; without UID and version, a new one. */
interface LeaseMetadata {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** Holds the data: the other fields are for people. */
const ANNOTATION = 'leaf-ids/record';

/** A Lease with `text` as its data. */
function leaseOf(metadata: LeaseMetadata, text: string, spec: object = {}): { readonly metadata: LeaseMetadata } {
  const annotations = { [ANNOTATION]: text };
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { ...metadata, annotations }, spec };
  return lease;
}

/** The data of a Lease; undefined if Leaf has not written any. */
function textOf({ metadata }: LeaseObject): string | undefined {
  return metadata.annotations?.[ANNOTATION];
}

/** The holder and the end of its lease, as `kubectl get leases` and `kubectl describe lease` show them. */
function specOf({ instance, ceiling, free }: WorkerRecord, now: number): object {
  const seconds = Math.max(1, Math.ceil((ceiling - now) / 1000));
  // The API wants six decimals.
  const renewTime = new Date(now).toISOString().replace('Z', '000Z');
  return free ? { renewTime } : { holderIdentity: formatInstance(instance), leaseDurationSeconds: seconds, renewTime };
}

/**
 * What a write compares. With the version alone, a write to a Lease that was deleted would create it again; the UID
 * prevents that.
 */
function formatVersion({ metadata: { uid, resourceVersion } }: LeaseObject): string {
  return JSON.stringify([uid, resourceVersion]);
}

function parseVersion(version: string): Required<Pick<LeaseMetadata, 'uid' | 'resourceVersion'>> {
  const [uid, resourceVersion] = parseArray(version).map(String);
  // No Lease has this UID and this version.
  return { uid: uid ?? '-', resourceVersion: resourceVersion ?? '1' };
}

/** Versions ascend. Returns 0 for a version that is not a number; callers do not compare it. */
function revisionOf(resourceVersion: unknown): number {
  const revision = Number(resourceVersion);
  return Number.isSafeInteger(revision) ? revision : 0;
}

const PAGE_SIZE = 500;
/** Attempts to read all pages before one expires, and to create the Lease of the document. */
const ATTEMPTS = 5;
const EXPIRED = 410;

interface LeaseList {
  readonly items: readonly LeaseObject[];
  /** The version of the whole list. */
  readonly revision: number;
}

/**
 * Workers as Leases of Kubernetes, `leaf-<name>-worker-<n>`, and the document of the registry in `leaf-<name>-registry`.
 * A replacement names the UID and the version of the Lease that was read. Reads are lists without a version, which
 * reflect all writes that were confirmed before.
 *
 * The origin contains the UID of the document's Lease, which the API server assigns: it is new after the namespace was
 * deleted, and also after the Leases were restored from a backup of their texts. The creation of a record cannot compare
 * the document: the caller reads the document again.
 */
export class KubernetesWorkerStore extends PoolStore {
  readonly description: string;
  private readonly history = new StoreHistory();
  /** UID of the document's Lease as last read. */
  private source = '';

  /**
   * @param client the store closes it
   * @param name name of the service, part of the names of the Leases
   */
  constructor(
    private readonly client: KubernetesClient,
    private readonly name: string,
    private readonly clock: Clock,
  ) {
    super();
    this.description = `${client.description}/leaf-${name}`;
  }

  async readRegistry(): Promise<StoredRegistry> {
    const metadata = this.metadataOf('registry');
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { mark } = this.history;
      const { items, revision } = await this.listOne(metadata.name);
      const [lease] = items;
      if (lease !== undefined) return this.registryOf(lease, revision, mark);
      // Empty, because the document contains the UID.
      await this.client.call('POST', '', leaseOf(metadata, ''));
    }
    throw unavailable(this.description, `The Lease ${metadata.name} was deleted ${ATTEMPTS} times in a row.`);
  }

  async writeRegistry({ version }: StoredRegistry, document: RegistryDocument): Promise<boolean> {
    const metadata = { ...this.metadataOf('registry'), ...parseVersion(version) };
    return (await this.write('PUT', leaseOf(metadata, JSON.stringify(document)))).version !== undefined;
  }

  override timeSources(): Promise<TimeSource[]> {
    return Promise.resolve(this.client.timeSources());
  }

  override abort(): Promise<void> {
    this.client.close();
    return Promise.resolve();
  }

  protected override async entries(workerId?: number): Promise<readonly PoolEntry[]> {
    const { name, labels } = this.metadataOf('worker', workerId);
    const pairs = Object.entries(labels).map(([label, value]) => `${label}=${value}`);
    const { items } = await (workerId === undefined
      ? this.pages({ labelSelector: pairs.join(',') })
      : this.listOne(name));
    const prefix = `${this.metadataOf('worker').name}-`;
    return items.map((lease) => ({
      number: lease.metadata.name.slice(prefix.length),
      text: textOf(lease),
      version: formatVersion(lease),
    }));
  }

  protected override placeOf(workerId?: number): string {
    const { name } = workerId === undefined ? this.metadataOf('registry') : this.metadataOf('worker', workerId);
    return `Lease ${name}`;
  }

  protected override createRecord(
    _registry: StoredRegistry,
    workerId: number,
    record: WorkerRecord,
  ): Promise<PoolWrite> {
    return this.write('POST', this.leaseOf(this.metadataOf('worker', workerId), record));
  }

  protected override replaceRecord(workerId: number, version: string, record: WorkerRecord): Promise<PoolWrite> {
    const metadata = { ...this.metadataOf('worker', workerId), ...parseVersion(version) };
    return this.write('PUT', this.leaseOf(metadata, record));
  }

  private leaseOf(metadata: LeaseMetadata, record: WorkerRecord): ReturnType<typeof leaseOf> {
    return leaseOf(metadata, encodePoolRecord(record), specOf(record, this.clock.now()));
  }

  private metadataOf(kind: 'registry' | 'worker', workerId?: number): LeaseMetadata {
    const labels = {
      'app.kubernetes.io/name': 'leaf',
      'app.kubernetes.io/instance': this.name,
      'app.kubernetes.io/component': kind,
    };
    return { name: ['leaf', this.name, kind, ...(workerId === undefined ? [] : [workerId])].join('-'), labels };
  }

  private registryOf(lease: LeaseObject, revision: number, mark: StoreRevision | undefined): StoredRegistry {
    const { uid } = lease.metadata;
    const text = textOf(lease) ?? '';
    const document = text === '' ? undefined : this.parseDocument(text);
    this.source = uid;
    const read = { source: uid, index: revision, revision };
    const origin = this.history.originOf(document?.origin, { mark, index: revision }, read);
    return { document, origin, version: formatVersion(lease) };
  }

  private async write(method: 'POST' | 'PUT', lease: ReturnType<typeof leaseOf>): Promise<PoolWrite> {
    const path = method === 'POST' ? '' : `/${lease.metadata.name}`;
    const { status, body, repeated } = await this.client.call(method, path, lease);
    // The Lease has changed, is gone, or exists already.
    if (status >= 300) return { version: undefined, repeated };
    const written = body as unknown as LeaseObject;
    this.history.saw({ source: this.source, revision: revisionOf(written.metadata.resourceVersion) });
    return { version: formatVersion(written), repeated };
  }

  private listOne(name: string): Promise<LeaseList> {
    return this.pages({ fieldSelector: `metadata.name=${name}` });
  }

  private async pages(selector: Readonly<Record<string, string>>): Promise<LeaseList> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const list = await this.readPages(selector);
      if (list !== undefined) return list;
    }
    throw unavailable(this.description, `The pages of its list expired ${ATTEMPTS} times in a row.`);
  }

  /** @returns undefined if a page has expired */
  private async readPages(selector: Readonly<Record<string, string>>): Promise<LeaseList | undefined> {
    const items: LeaseObject[] = [];
    let next = '';
    for (;;) {
      const query = new URLSearchParams({ ...selector, limit: String(PAGE_SIZE), ...(next && { continue: next }) });
      const { status, body } = await this.client.call('GET', `?${query.toString()}`);
      if (status === EXPIRED) return undefined;
      const page = body as { readonly items?: readonly LeaseObject[]; readonly metadata?: Record<string, string> };
      items.push(...(page.items ?? []));
      next = page.metadata?.continue ?? '';
      // The version of all pages is that of the first one.
      if (next === '') return { items, revision: revisionOf(page.metadata?.resourceVersion) };
    }
  }
}
