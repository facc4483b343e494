import { LeafError, type RandomSource } from '@leaf-ids/core';
import { FakeClock } from '@leaf-ids/core/testing';
import { CallerLimit, type PrefetchContext } from '../../../libs/client/src/prefetch/prefetch-context';

/** Dependencies of the client buffers, with in-memory servers and a manual clock. */
export class ClientRig {
  readonly clock = new FakeClock();
  readonly callerLimit: CallerLimit;
  /** Requested sizes. */
  readonly asked: number[] = [];
  readonly log: string[] = [];
  readonly context: PrefetchContext;
  /** The next ID of any kind. */
  next = 1n;
  /** Number of non-adjacent ranges in a response. */
  pieces = 1;
  /** Whether responses mark the tag as strict. */
  strict = false;
  /** How many IDs a segment tag has left: a request for more is refused. */
  left = Infinity;
  /** Thrown instead of a response. */
  failure: Error | undefined;
  private readonly closing = new AbortController();
  private held: (() => void)[] | undefined;

  constructor(places = 100, random: RandomSource = () => 0) {
    this.callerLimit = new CallerLimit(places);
    this.context = {
      requester: { get: (_route, path, read) => this.get(path, read) },
      clock: this.clock,
      random,
      callerLimit: this.callerLimit,
      timeoutMs: 1000,
      closing: this.closing.signal,
      events: {
        onLoad: (what, count) => this.log.push(`${what}: ${count}`),
        onLoadFailed: (what, error) => this.log.push(`${what}: ${String(error)}`),
        onExpired: (count) => this.log.push(`expired: ${count}`),
      },
    };
  }

  /** Delays responses until {@link release}. */
  hold(): void {
    this.held ??= [];
  }

  release(): void {
    const held = this.held ?? [];
    this.held = undefined;
    for (const go of held) go();
  }

  close(): void {
    this.closing.abort();
  }

  /** Waits until all work that does not need the clock is done. */
  settle(): Promise<void> {
    return this.clock.advance(0);
  }

  static outage(): LeafError {
    return new LeafError('LEAF_SERVERS_UNAVAILABLE', 'All are down.', { retryAfterMs: 1000 });
  }

  private async get<T>(path: string, read: (body: unknown) => T): Promise<T> {
    const [, name = '', size = ''] = /([^/]+)\?size=(\d+)$/.exec(path) ?? [];
    const count = Number(size);
    this.asked.push(count);
    if (count > this.left) throw new LeafError('LEAF_TAG_EXHAUSTED', 'Fewer are left.');
    this.left -= count;
    const from = this.next;
    this.next = from + BigInt(count) + BigInt(this.pieces - 1);
    if (this.held !== undefined) await new Promise<void>((resolve) => this.held?.push(resolve));
    else await Promise.resolve();
    if (this.failure !== undefined) throw this.failure;
    if (path.includes('/range/')) {
      return read({ tag: name, ...(this.strict && { order: 'strict' }), ranges: this.cut(from, count) });
    }
    return read({ key: name, ids: Array.from({ length: count }, (_, index) => String(from + BigInt(index))) });
  }

  /** Skips one ID between two ranges. */
  private cut(from: bigint, count: number): { from: string; to: string }[] {
    const size = Math.floor(count / this.pieces);
    return Array.from({ length: this.pieces }, (_, piece) => {
      const first = from + BigInt(piece * (size + 1));
      const last = piece === this.pieces - 1 ? from + BigInt(count + piece - 1) : first + BigInt(size - 1);
      return { from: String(first), to: String(last) };
    });
  }
}
