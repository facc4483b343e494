import { LeafError, type Numbers } from '@leaf-ids/core';
import type { Leaf } from '@leaf-ids/id';

/** @throws LeafError `LEAF_SEGMENT_DISABLED` */
export function numbersOf({ numbers }: Pick<Leaf, 'numbers'>): Numbers {
  if (numbers !== undefined) return numbers;
  throw new LeafError('LEAF_SEGMENT_DISABLED', 'Segment mode is off on this server. Set LEAF_SEGMENT_ENABLED=true.');
}
