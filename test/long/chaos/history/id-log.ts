/** A range of IDs as one caller received it. */
export interface Receipt {
  readonly from: bigint;
  readonly to: bigint;
  /** Index of the caller. */
  readonly caller: number;
  /** Milliseconds since the run began. */
  readonly at: number;
}

const CHUNK = 65_536;

class Chunk {
  readonly from = new BigUint64Array(CHUNK);
  readonly to = new BigUint64Array(CHUNK);
  readonly at = new Uint32Array(CHUNK);
  readonly caller = new Uint16Array(CHUNK);
  count = 0;
}

/** All that was received of IDs which must differ from each other, 22 bytes a range. */
export class IdLog {
  /** Receipts. */
  count = 0;
  ids = 0n;
  private readonly chunks: Chunk[] = [];

  add({ from, to, caller, at }: Receipt): void {
    let chunk = this.chunks.at(-1);
    if (chunk === undefined || chunk.count === CHUNK) this.chunks.push((chunk = new Chunk()));
    const index = chunk.count++;
    chunk.from[index] = from;
    chunk.to[index] = to;
    chunk.at[index] = at;
    chunk.caller[index] = caller;
    this.count++;
    this.ids += to - from + 1n;
  }

  *receipts(): Generator<Receipt> {
    for (const { from, to, at, caller, count } of this.chunks) {
      for (let i = 0; i < count; i++) yield { from: from[i]!, to: to[i]!, at: at[i]!, caller: caller[i]! };
    }
  }

  /** IDs that were received more than once, as ranges, each once. */
  repeated(): { from: bigint; to: bigint }[] {
    const begins = this.sorted((chunk) => chunk.from);
    const ends = this.sorted((chunk) => chunk.to);
    const found: { from: bigint; to: bigint }[] = [];
    // As long as fewer have ended than have begun before the newest one, two hold the same IDs.
    for (let index = 1; index < begins.length; index++) {
      const [from, to] = [begins[index]!, ends[index - 1]!];
      const last = found.at(-1);
      if (to < from) continue;
      if (last === undefined || from > last.to) found.push({ from, to });
      else if (to > last.to) last.to = to;
    }
    return found;
  }

  private sorted(column: (chunk: Chunk) => BigUint64Array): BigUint64Array {
    const all = new BigUint64Array(this.count);
    let offset = 0;
    for (const chunk of this.chunks) {
      all.set(column(chunk).subarray(0, chunk.count), offset);
      offset += chunk.count;
    }
    return all.sort();
  }
}
