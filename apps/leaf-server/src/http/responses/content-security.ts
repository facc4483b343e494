/** Policy of data responses: a browser loads nothing, runs nothing and frames nothing. */
export const DATA_CSP = "default-src 'none'; frame-ancestors 'none'";

/** Replaces {@link DATA_CSP} for pages with scripts: same origin only, and no inline scripts or styles. */
export const PAGE_CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
