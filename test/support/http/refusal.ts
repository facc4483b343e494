import type { LeafErrorCode } from '@leaf-ids/core';

/** Matches a LeafError of this code. */
export const REFUSED = (code: LeafErrorCode): unknown => expect.objectContaining({ name: 'LeafError', code });
