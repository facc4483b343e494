import type { IdFormat } from './id-format';
import type { IdPermutation } from './id-permutation';

/** Permutes IDs before writing them, so that the texts reveal neither the number of IDs nor their order. */
export class PermutedFormat implements IdFormat {
  constructor(
    private readonly permutation: IdPermutation,
    private readonly inner: IdFormat,
  ) {}

  format(id: bigint): string {
    return this.inner.format(this.permutation.permute(id));
  }

  parse(text: string): bigint {
    return this.permutation.restore(this.inner.parse(text));
  }
}
