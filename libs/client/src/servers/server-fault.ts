/** A fault of a server: no response, or an invalid one. */
export class ServerFault extends Error {
  override readonly name = 'ServerFault';

  constructor(
    message: string,
    /** `Retry-After` of the server, in milliseconds. */
    readonly retryAfterMs?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
