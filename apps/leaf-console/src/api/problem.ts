/** The result of a request: the response, or the problem to show next to the control. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: Problem };

export interface Problem {
  readonly status: number;
  /** Code of the error catalogue; empty if there was no response. */
  readonly code: string;
  readonly title: string;
  readonly detail: string;
}

export async function request<T>(
  path: string,
  read: (response: Response) => Promise<T>,
  init?: RequestInit,
): Promise<Outcome<T>> {
  try {
    const response = await fetch(path, { ...init, cache: 'no-store' });
    if (!response.ok) return { ok: false, problem: await problemOf(response) };
    return { ok: true, value: await read(response) };
  } catch (error) {
    return { ok: false, problem: { status: 0, code: '', title: '', detail: String(error) } };
  }
}

/** Sends JSON and reads JSON. */
export function send<T>(token: string, method: string, path: string, body?: unknown): Promise<Outcome<T>> {
  const headers = tokenHeaders(token);
  if (body !== undefined) headers.set('content-type', 'application/json');
  const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
  return request(path, async (response) => (response.status === 204 ? null : await response.json()) as T, init);
}

/** @param token empty: none */
export function tokenHeaders(token: string): Headers {
  return new Headers(token === '' ? {} : { authorization: `Bearer ${token}` });
}

async function problemOf(response: Response): Promise<Problem> {
  const { status, statusText } = response;
  const body = (await response.json().catch(() => ({}))) as Partial<Record<keyof Problem, unknown>>;
  const text = (value: unknown, fallback: string): string => (typeof value === 'string' ? value : fallback);
  return { status, code: text(body.code, ''), title: text(body.title, statusText), detail: text(body.detail, '') };
}
