import type { IdFormat } from './id-format';
import type { IdPermutation } from './id-permutation';

/** Writes IDs in a secret order, so that they tell neither how many there are nor which came first. */
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
