import type { Instance } from './instance';
import { LeaseHolder } from './lease-holder';
import type { WorkerRecord } from './worker-store';

/** Lease ID of a window in a record: the lease ID of the caller, and the first timestamp that it may use. */
const LEASE = /^([0-9a-f]{32})-(\d{1,15})$/;
/** Characters that every store keeps in an address. */
const PLAIN = /[^A-Za-z0-9._-]/gu;
/** Maximum length of a name: with `:0`, the longest address of a database registry. */
const MAX_NAME = 125;

/** A worker ID that a process outside of the servers holds, as its record has it. */
export interface WindowRecord {
  /** 32 hexadecimal digits, made by the caller. */
  readonly lease: string;
  /** Unix milliseconds: the first timestamp that the caller may use. */
  readonly from: number;
  /** Name of the holder, for people; a long name is cut off. */
  readonly holder: string;
}

/** The window of a record; undefined for a record of a server. */
export function windowOf({ leaseId, instance }: Pick<WorkerRecord, 'leaseId' | 'instance'>): WindowRecord | undefined {
  const [, lease, from] = LEASE.exec(leaseId ?? '') ?? [];
  return lease === undefined ? undefined : { lease, from: Number(from), holder: decoded(instance.ip) };
}

/**
 * The holder of a window. Any server may write its record, so the record contains all that another one needs: the lease
 * ID of the caller with the first timestamp, and the name of the caller as address.
 */
export class WindowHolder extends LeaseHolder {
  override readonly shared = true;
  /** Name of the caller, for people. */
  readonly name: string;

  /** @param server the server that makes the requests */
  constructor(
    readonly lease: string,
    holder: string,
    server: Instance,
  ) {
    const name = encoded(holder);
    super({ ip: name, port: 0 }, lease, () => -1, server);
    this.name = decoded(name);
  }

  static of({ lease, from, holder }: WindowRecord, server: Instance): WindowHolder {
    const found = new WindowHolder(lease, holder, server);
    found.leaseId = leaseText(lease, from);
    return found;
  }

  /** If the reply is lost, the record is found by the lease; its `from` may be below the floor of a later attempt. */
  override acquisition(ceiling: number, _recorded: number, floor: number): WorkerRecord {
    this.leaseId = leaseText(this.lease, floor + 1);
    return this.record(ceiling);
  }
}

/** The lease ID of a window in its record. */
export function leaseText(lease: string, from: number): string {
  return `${lease}-${from}`;
}

/** Encodes a name as in a URL, with `~` for `%`; whole characters only. */
function encoded(holder: string): string {
  let name = '';
  for (const character of holder) {
    const next = name + character.replace(PLAIN, (one) => [...Buffer.from(one)].map(escaped).join(''));
    if (next.length > MAX_NAME) break;
    name = next;
  }
  return name;
}

function escaped(byte: number): string {
  return `~${byte.toString(16).padStart(2, '0')}`;
}

function decoded(name: string): string {
  const bytes = name.replace(/~([0-9a-f]{2})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}
