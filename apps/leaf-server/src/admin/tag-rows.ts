import type { TagRow } from '@leaf/core';

/** A row as HTTP and the audit log show it. */
export interface TagResponse {
  readonly tag: string;
  /** Decimal: JSON numbers are exact to 2^53 only. */
  readonly maxId: string;
  readonly step: number;
  readonly description: string;
  readonly updatedAt: string;
}

export function toTagResponse({ tag, maxId, step, description = '', updatedAt }: TagRow): TagResponse {
  return { tag, maxId: String(maxId), step, description, updatedAt: new Date(updatedAt).toISOString() };
}
