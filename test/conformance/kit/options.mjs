export const TOKEN = 'client-token-0123456789';
export const WORKER_TOKEN = 'worker-token-0123456789';
export const HOLDER = 'kit';
/** The shortest that a server accepts, in milliseconds. The scripted servers answer with shorter windows. */
export const WINDOW_MS = 10_000;

/** Options of the client in every scenario; a scenario replaces some. */
export const OPTIONS = { token: TOKEN, timeoutMs: 6000, requestTimeoutMs: 2000 };
/** Those of the mode `window`. */
export const WINDOW = { mode: 'window', windowMs: WINDOW_MS, holder: HOLDER, token: WORKER_TOKEN };
