import type { Clock } from '../clock/clock';
import type { LeafError } from '../errors/leaf-error';

/** How long a refusal that another attempt cannot change, such as that of a deleted row, is kept, in milliseconds. */
const REFUSAL_MS = 1000;

/** The newest refusal of a source of IDs. While it is recent, calls get it at once, without a request of their own. */
export class RecentRefusal {
  private newest: LeafError | undefined = undefined;
  private until = -Infinity;

  constructor(private readonly clock: Clock) {}

  /** @param error undefined if only loads that nobody waits for have to pause */
  keep(error: LeafError | undefined): void {
    this.newest = error;
    this.until = this.clock.monotonic() + REFUSAL_MS;
  }

  /** After an answer: nothing is refused any more. */
  forget(): void {
    this.newest = undefined;
  }

  get isRecent(): boolean {
    return this.clock.monotonic() < this.until;
  }

  /** The refusal, also when it is not recent; undefined after an answer. */
  get error(): LeafError | undefined {
    return this.newest;
  }

  /** @throws LeafError the refusal while it is recent */
  assertNone(): void {
    if (this.newest !== undefined && this.isRecent) throw this.newest;
  }
}
