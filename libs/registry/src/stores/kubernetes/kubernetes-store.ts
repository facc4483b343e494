import {
  type Clock,
  formatInstance,
  type Instance,
  parseRegistryDocument,
  type Peer,
  type RegistryDocument,
  type StoredRegistry,
  type StoredWorker,
  type TimeSource,
  type WorkerRecord,
  WorkerStore,
} from '@leaf-ids/core';
import { holdersOf } from '@leaf-ids/core/internal';
import { decodePoolRecord, encodePoolRecord } from '../shared/pool-record';
import { StoreHistory, type StoreRevision } from '../shared/store-history';
import { unavailable, unreadable } from '../shared/store-errors';
import type { KubernetesClient } from './kubernetes-client';
import {
  formatVersion,
  type LeaseMetadata,
  leaseOf,
  type LeaseObject,
  parseVersion,
  revisionOf,
  specOf,
  textOf,
} from './lease-object';

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
export class KubernetesWorkerStore extends WorkerStore {
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
    return (await this.write('PUT', leaseOf(metadata, JSON.stringify(document)))) !== undefined;
  }

  async list(instance?: Instance): Promise<StoredWorker[]> {
    const asked = instance && formatInstance(instance);
    const labels = Object.entries(this.metadataOf('worker').labels).map(([label, value]) => `${label}=${value}`);
    const { items } = await this.pages({ labelSelector: labels.join(',') });
    const found = items.map((lease) => this.workerOf(lease)).filter((stored) => stored !== undefined);
    return found.filter(({ record }) => asked === undefined || formatInstance(record.instance) === asked);
  }

  async read(workerId: number): Promise<StoredWorker | undefined> {
    const { name } = this.metadataOf('worker', workerId);
    const { items } = await this.listOne(name);
    const [lease] = items;
    if (lease === undefined) return undefined;
    const stored = this.workerOf(lease);
    if (stored === undefined) throw unreadable(this.description, `Lease ${name}`);
    return stored;
  }

  /** Fails for `workerId` undefined: a pool has no numbering. */
  async create(
    _registry: StoredRegistry,
    record: WorkerRecord,
    workerId: number | undefined,
  ): Promise<StoredWorker | undefined> {
    if (workerId === undefined) return undefined;
    return this.writeRecord('POST', workerId, record);
  }

  replace({ workerId, version }: StoredWorker, record: WorkerRecord): Promise<StoredWorker | undefined> {
    return this.writeRecord('PUT', workerId, record, parseVersion(version));
  }

  override async peers(now: number): Promise<Peer[]> {
    return holdersOf(await this.list(), now);
  }

  override timeSources(): Promise<TimeSource[]> {
    return Promise.resolve(this.client.timeSources());
  }

  override abort(): Promise<void> {
    this.client.close();
    return Promise.resolve();
  }

  override close(): Promise<void> {
    return this.abort();
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
    const { uid, name } = lease.metadata;
    const text = textOf(lease) ?? '';
    const document = text === '' ? undefined : parseRegistryDocument(text);
    if (text !== '' && document === undefined) throw unreadable(this.description, `Lease ${name}`);
    this.source = uid;
    const read = { source: uid, index: revision, revision };
    const origin = this.history.originOf(document?.origin, { mark, index: revision }, read);
    return { document, origin, version: formatVersion(lease) };
  }

  private workerOf(lease: LeaseObject): StoredWorker | undefined {
    const prefix = `${this.metadataOf('worker').name}-`;
    const number = lease.metadata.name.slice(prefix.length);
    const record = decodePoolRecord(textOf(lease) ?? '');
    if (record === undefined || !/^(0|[1-9]\d{0,8})$/.test(number)) return undefined;
    return { workerId: Number(number), record, version: formatVersion(lease) };
  }

  private async writeRecord(
    method: 'POST' | 'PUT',
    workerId: number,
    record: WorkerRecord,
    version: Partial<LeaseMetadata> = {},
  ): Promise<StoredWorker | undefined> {
    const metadata = { ...this.metadataOf('worker', workerId), ...version };
    const lease = leaseOf(metadata, encodePoolRecord(record), specOf(record, this.clock.now()));
    const written = await this.write(method, lease);
    return written && { workerId, record, version: formatVersion(written) };
  }

  /** @returns undefined if the Lease has changed or is gone, or exists already */
  private async write(method: 'POST' | 'PUT', lease: ReturnType<typeof leaseOf>): Promise<LeaseObject | undefined> {
    const { status, body } = await this.client.call(method, method === 'POST' ? '' : `/${lease.metadata.name}`, lease);
    if (status >= 300) return undefined;
    const written = body as unknown as LeaseObject;
    this.history.saw({ source: this.source, revision: revisionOf(written.metadata.resourceVersion) });
    return written;
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
    for (let next = ''; ;) {
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
