/**
 * A client marks each request for IDs by a nonce, and the server repeats it in its answer: an answer with another nonce was
 * made for another request, and a cache, or a proxy that collapses requests, has given it to several clients. As part of
 * the URL it keeps those that go by URLs from doing so.
 */
export const NONCE_PARAMETER = 'nonce';
export const NONCE_HEADER = 'leaf-nonce';
export const NONCE_PATTERN = /^[A-Za-z0-9_-]{1,64}$/;
/** Of a request that names none. */
export const NO_NONCE = 'none';
