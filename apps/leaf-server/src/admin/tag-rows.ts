import {
  type Interleave,
  MAX_DESCRIPTION,
  MAX_INTERLEAVE,
  MAX_STEP,
  ORDERS,
  RESETS,
  type TagKind,
  type TagOrder,
  type TagReset,
  type TagRow,
} from '@leaf/core';
import { object, type Schema } from '../openapi/schema';
import { ANY_TAG, ID, MOMENT } from '../openapi/shared-schemas';

/** What the names of IANA zones are made of. */
export const ZONE_PATTERN = /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/;

/** A row as HTTP and the audit log show it. A setting that the row does not have is left out. */
export interface TagResponse {
  readonly tag: string;
  /** Decimal: JSON numbers are exact to 2^53 only. */
  readonly maxId: string;
  readonly step: number;
  readonly maxStep?: number;
  /** Decimal. */
  readonly max?: string;
  /** Left out: `relaxed`. */
  readonly order?: TagOrder;
  readonly reset?: TagReset;
  readonly zone?: string;
  readonly interleave?: Interleave;
  readonly description: string;
  readonly updatedAt: string;
}

/** What is set when a tag is created, and never again. */
export const KIND: Readonly<Record<keyof TagKind, Schema>> = {
  order: {
    type: 'string',
    enum: ORDERS,
    description: '`strict`: IDs ascend over all servers. `relaxed`, the default: on each server.',
  },
  reset: { type: 'string', enum: RESETS, description: 'The tag begins anew with each day, month or year.' },
  zone: {
    type: 'string',
    pattern: ZONE_PATTERN.source,
    description: 'IANA zone of the calendar that `reset` goes by; UTC when left out.',
    example: 'Europe/Berlin',
  },
  interleave: {
    ...object<Interleave>('Interleave', {
      of: { type: 'integer', minimum: 2, maximum: MAX_INTERLEAVE, description: 'Databases that share the tag.' },
      remainder: {
        type: 'integer',
        minimum: 0,
        maximum: MAX_INTERLEAVE - 1,
        description: 'Which of them this one is, below `of`.',
      },
      block: { type: 'integer', minimum: 1, maximum: MAX_STEP, description: 'IDs that one gives in a row.' },
    }),
    additionalProperties: false,
    description: 'The share of this database in a tag that several give IDs of.',
  },
};

export const TAG_ROW = object<TagResponse>(
  'Tag',
  {
    tag: ANY_TAG,
    maxId: { ...ID, description: 'The first ID that is not taken yet.', example: '1' },
    step: { type: 'integer', minimum: 1, maximum: MAX_STEP, description: 'IDs of a segment, at least.', example: 2000 },
    maxStep: { type: 'integer', minimum: 1, maximum: MAX_STEP, description: 'IDs of a segment, at most.' },
    max: { ...ID, description: 'The last ID that may be given.', example: '999999' },
    ...KIND,
    description: { type: 'string', maxLength: MAX_DESCRIPTION, description: 'What the tag is for.', example: '' },
    updatedAt: { ...MOMENT, description: 'The last change of the row.' },
  },
  ['maxStep', 'max', 'order', 'reset', 'zone', 'interleave'],
);

export function toTagResponse(row: TagRow): TagResponse {
  const { tag, maxId, step, maxStep, max, order, reset, zone, interleave, description = '', updatedAt } = row;
  return {
    tag,
    maxId: String(maxId),
    step,
    ...(maxStep === undefined ? {} : { maxStep }),
    ...(max === undefined ? {} : { max: String(max) }),
    ...(order === 'relaxed' ? {} : { order }),
    ...(reset === undefined ? {} : { reset }),
    ...(zone === undefined ? {} : { zone }),
    ...(interleave === undefined ? {} : { interleave }),
    description,
    updatedAt: new Date(updatedAt).toISOString(),
  };
}
