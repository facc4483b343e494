import type { LeafError } from '../errors/leaf-error';
import type { DoubleBuffer } from './double-buffer';
import type { IdRange } from './id-range';

/** Buffers that have ended, of all tags; the last allocation of one may still be under way. */
export class RetiredBuffers {
  private readonly ending = new Set<DoubleBuffer>();
  private issuedBefore = 0;

  /** See {@link DoubleBuffer.retire}. */
  async retire(buffer: DoubleBuffer, reason: () => LeafError): Promise<IdRange[]> {
    this.ending.add(buffer);
    const rest = await buffer.retire(reason);
    this.ending.delete(buffer);
    this.issuedBefore += buffer.issued;
    return rest;
  }

  /** IDs that they handed out. */
  get issued(): number {
    let sum = this.issuedBefore;
    for (const buffer of this.ending) sum += buffer.issued;
    return sum;
  }
}
