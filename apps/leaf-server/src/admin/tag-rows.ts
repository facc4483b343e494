import { MAX_DESCRIPTION, MAX_STEP, type TagRow } from '@leaf/core';
import { object } from '../openapi/schema';
import { ANY_TAG, ID, MOMENT } from '../openapi/shared-schemas';

/** A row as HTTP and the audit log show it. */
export interface TagResponse {
  readonly tag: string;
  /** Decimal: JSON numbers are exact to 2^53 only. */
  readonly maxId: string;
  readonly step: number;
  readonly description: string;
  readonly updatedAt: string;
}

export const TAG_ROW = object<TagResponse>('Tag', {
  tag: ANY_TAG,
  maxId: { ...ID, description: 'The first ID that is not taken yet.', example: '1' },
  step: { type: 'integer', minimum: 1, maximum: MAX_STEP, description: 'IDs of a segment, at least.', example: 2000 },
  description: { type: 'string', maxLength: MAX_DESCRIPTION, description: 'What the tag is for.', example: '' },
  updatedAt: { ...MOMENT, description: 'The last change of the row.' },
});

export function toTagResponse({ tag, maxId, step, description = '', updatedAt }: TagRow): TagResponse {
  return { tag, maxId: String(maxId), step, description, updatedAt: new Date(updatedAt).toISOString() };
}
