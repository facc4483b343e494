import { ERROR_CATALOGUE, type LeafErrorCode } from './error-catalogue';

export interface LeafErrorOptions {
  /** The underlying error, for logs. Never sent to a client. */
  readonly cause?: unknown;
  /** When to retry, in milliseconds from now. Sent as `Retry-After`. */
  readonly retryAfterMs?: number;
}

/** The only error type that Leaf libraries throw: a code of the catalogue, and a message that says what to do next. */
export class LeafError extends Error {
  override readonly name = 'LeafError';
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly code: LeafErrorCode,
    message: string,
    options: LeafErrorOptions = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.retryAfterMs = options.retryAfterMs;
  }

  /** HTTP status of the response. */
  get status(): number {
    return ERROR_CATALOGUE[this.code].status;
  }

  /** Short name of the kind of error. */
  get title(): string {
    return ERROR_CATALOGUE[this.code].title;
  }

  /** Whether the same call may succeed later without a change to a setting or a row. */
  get retryable(): boolean {
    return RETRYABLE.has(this.code);
  }
}

const RETRYABLE: ReadonlySet<LeafErrorCode> = new Set<LeafErrorCode>([
  'LEAF_QUOTA_EXCEEDED',
  'LEAF_NOT_READY',
  'LEAF_OVERLOADED',
  'LEAF_SEGMENT_UNAVAILABLE',
  'LEAF_STORE_UNAVAILABLE',
  'LEAF_STORE_BACKWARDS',
  'LEAF_CLOCK_BACKWARDS',
  'LEAF_LEASE_EXPIRED',
  'LEAF_REGISTRY_UNREACHABLE',
  'LEAF_SERVERS_UNAVAILABLE',
]);

/** The messages of an error and its causes, for logs. Clients receive only the message of the error itself. */
export function reasonOf(error: unknown): string {
  const messages = [messageOf(error)];
  for (let cause = causeOf(error); cause !== undefined && messages.length < 5; cause = causeOf(cause)) {
    const message = messageOf(cause);
    if (!messages.some((earlier) => earlier.includes(message))) messages.push(message);
  }
  return messages.join(' < ');
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The `code` of an error, as set by Leaf, Node.js and most libraries. */
export function codeOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
