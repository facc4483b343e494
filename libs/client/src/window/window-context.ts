import type { Requester } from '../http/requester';
import type { PrefetchContext } from '../prefetch/prefetch-context';

export interface WindowEvents {
  /** The client holds a worker ID, and may issue IDs up to `until` (Unix milliseconds). */
  readonly onWindowAcquired: (workerId: number, until: number) => void;
  /** The window has ended, and the worker ID belongs to another holder. The client acquires another one. */
  readonly onWindowLost: (workerId: number, error: unknown) => void;
  /** A request for a worker ID failed: called for the first failure of a series and every 100th. */
  readonly onWindowFailed: (error: unknown) => void;
}

/** The dependencies of a window. */
export interface WindowContext extends Omit<PrefetchContext, 'requester' | 'events'> {
  readonly requester: Pick<Requester, 'send'>;
  readonly events: WindowEvents;
  /** 32 random hexadecimal digits that cannot be guessed. */
  readonly newLease: () => string;
}
