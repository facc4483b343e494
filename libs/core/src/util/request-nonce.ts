/**
 * A client adds a nonce to each request for IDs, and the server returns it in the response. A response with a different
 * nonce belongs to another request: a cache or a request-collapsing proxy has reused it. Because the nonce is part of
 * the URL, caches that use the URL as key do not reuse responses.
 */
export const NONCE_PARAMETER = 'nonce';
export const NONCE_HEADER = 'leaf-nonce';
export const NONCE_PATTERN = /^[A-Za-z0-9_-]{1,64}$/;
/** Returned for a request without a nonce. */
export const NO_NONCE = 'none';
