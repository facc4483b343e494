import { ERROR_CATALOGUE, type LeafErrorCode } from './error-catalogue';

export interface LeafErrorOptions {
  /** The underlying error, for logs. Never sent to a client. */
  readonly cause?: unknown;
  /** When to retry, in milliseconds from now. Sent as `Retry-After`. */
  readonly retryAfterMs?: number;
  /** HTTP status of the response, where it differs from that of the code. */
  readonly status?: number;
}

/** `Retry-After` of an error that does not specify a delay, in seconds. */
export const RETRY_AFTER_S = 1;

/** The only error type that Leaf libraries throw: a code of the catalogue, and a message that says what to do next. */
export class LeafError extends Error {
  override readonly name = 'LeafError';
  readonly retryAfterMs: number | undefined;
  /** HTTP status of the response. */
  readonly status: number;

  constructor(
    readonly code: LeafErrorCode,
    message: string,
    options: LeafErrorOptions = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.retryAfterMs = options.retryAfterMs;
    this.status = options.status ?? ERROR_CATALOGUE[code].status;
  }

  /**
   * Whether a client may see the message, as in errors of the package http-errors: Nest, Express, Fastify and Koa then
   * respond with {@link statusCode}. False for faults that only an operator can correct, and for faults between
   * `LeafClient` and its servers: their messages are about the token and the addresses of the application.
   */
  get expose(): boolean {
    return this.status !== 500 && !CLIENT_FAULTS.has(this.code);
  }

  /** {@link status}; undefined unless {@link expose}. */
  get statusCode(): number | undefined {
    return this.expose ? this.status : undefined;
  }

  /** `retry-after` if the response can be different later. */
  get headers(): Readonly<Record<string, string>> {
    const { status, retryAfterMs } = this;
    if (status !== 503 && status !== 429) return {};
    const seconds = retryAfterMs === undefined ? RETRY_AFTER_S : Math.max(1, Math.ceil(retryAfterMs / 1000));
    return { 'retry-after': String(seconds) };
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

/**
 * Whether a thrown value is a LeafError, also of another copy of this package, which `instanceof` does not recognize.
 *
 * @param code if given, the code that it must have
 * @example if (isLeafError(error, 'LEAF_TAG_NOT_FOUND')) return undefined;
 */
export function isLeafError(error: unknown, code?: LeafErrorCode): error is LeafError {
  const { name, code: own } = (error ?? {}) as { readonly name?: unknown; readonly code?: unknown };
  return name === 'LeafError' && typeof own === 'string' && (code === undefined || own === code);
}

/** Errors of `LeafClient` that do not concern the clients of its application. */
const CLIENT_FAULTS: ReadonlySet<LeafErrorCode> = new Set<LeafErrorCode>([
  'LEAF_UNAUTHORIZED',
  'LEAF_FORBIDDEN',
  'LEAF_TOO_MANY_FAILURES',
  'LEAF_SERVERS_UNAVAILABLE',
  'LEAF_WINDOWS_DISABLED',
  'LEAF_LEASE_NOT_FOUND',
  'LEAF_WORKERS_USED_UP',
]);

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
  return messages
    .map((message, n) => (n < messages.length - 1 ? message.replace(/\.$/, '') : message))
    .join('; cause: ');
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
