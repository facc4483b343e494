import { rule, textOr } from '@leaf-ids/core/internal';

/** A token, or a function that returns the current one. */
export type ClientToken = string | (() => string | Promise<string>);

/** Bearer tokens of RFC 6750. */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;

export const tokenRule = textOr(
  (value, name) => (TOKEN.test(String(value)) ? [] : [`${name} contains characters that a header cannot carry`]),
  rule('a string or a function', (value) => typeof value === 'function'),
);
