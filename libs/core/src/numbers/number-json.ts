import { LeafError } from '../errors/leaf-error';
import { MAX_ID } from '../segment/tags/id-range';
import type { DocumentNumber, NumberState } from './document-number';
import type { NumberAudit } from './number-audit';
import type { NumberPage } from './number-store';

/** A number in JSON. */
export interface NumberJson {
  readonly tag: string;
  readonly key: string;
  readonly period?: string;
  /** Decimal. */
  readonly number: string;
  readonly text?: string;
  readonly state: NumberState;
  readonly issuedAt: string;
  readonly issuedBy: string;
  readonly settledAt?: string;
  readonly settledBy?: string;
  readonly reason?: string;
}

export function jsonOfNumber(tag: string, found: DocumentNumber, text: string | undefined): NumberJson {
  const { key, period, number, state, issuedAt, issuedBy, settledAt, settledBy, reason } = found;
  return {
    tag,
    key,
    ...(period === '' ? {} : { period }),
    number: String(number),
    ...(text === undefined ? {} : { text }),
    state,
    issuedAt: new Date(issuedAt).toISOString(),
    issuedBy,
    ...(settledAt === undefined ? {} : { settledAt: new Date(settledAt).toISOString() }),
    ...(settledBy === undefined ? {} : { settledBy }),
    ...(reason === undefined ? {} : { reason }),
  };
}

type Told = 'tag' | 'counts' | 'contiguous' | 'chronological' | 'lines' | 'unverified' | 'hash' | 'intact';

/** An audit in JSON. */
export interface AuditJson extends Pick<NumberAudit, Told> {
  readonly period?: string;
  readonly first?: string;
  readonly last?: string;
  readonly missing: readonly { readonly from: string; readonly to: string }[];
  readonly fault?: { readonly number?: string; readonly position?: number; readonly problem: string };
}

export function jsonOfAudit(audit: NumberAudit): AuditJson {
  const shown = { ...audit, period: audit.period === '' ? undefined : audit.period };
  const text = JSON.stringify(shown, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
  return JSON.parse(text) as AuditJson;
}

/** The last number of a page, for {@link parseCursor}. */
export function cursorOf({ period, number, turn }: DocumentNumber): string {
  return [period, number, turn].join('~');
}

/** @throws LeafError `LEAF_REQUEST_INVALID` */
export function parseCursor(cursor: string | undefined): NumberPage['after'] {
  if (cursor === undefined) return undefined;
  const [, period = '', number = '', turn = ''] = /^([^~]{0,16})~(\d{1,19})~(\d{1,9})$/.exec(cursor) ?? [];
  if (number !== '' && BigInt(number) <= MAX_ID) return { period, number: BigInt(number), turn: Number(turn) };
  throw new LeafError('LEAF_REQUEST_INVALID', '"after" must be the value that the page before has given.');
}
