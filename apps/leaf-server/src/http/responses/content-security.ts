/** For answers that are data: whoever opens one in a browser gets nothing that loads, runs, or can be framed. */
export const DATA_CSP = "default-src 'none'; frame-ancestors 'none'";

/** For pages that run nothing, in place of {@link DATA_CSP}: what they load comes from here. */
export const PLAIN_PAGE_CSP =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** For pages of this server, in place of {@link DATA_CSP}: what they load and ask comes from here, in files of its own. */
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
