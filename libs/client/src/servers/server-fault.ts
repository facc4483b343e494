/** What speaks against a server: no answer, or one that no sound Leaf server gives. */
export class ServerFault extends Error {
  override readonly name = 'ServerFault';

  constructor(
    message: string,
    /** How long the server asked to be left alone, in milliseconds. */
    readonly retryAfterMs?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
