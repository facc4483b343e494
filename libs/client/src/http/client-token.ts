/** A token, or a function that returns the current one. */
export type ClientToken = string | (() => string | Promise<string>);
