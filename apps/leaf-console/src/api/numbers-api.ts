import type { NumberAudit, NumberRow } from '../monitor/views';
import { type Listed, readPage } from './admin-api';
import { type Outcome, request, send, tokenHeaders } from './problem';

export type { NumberAudit, NumberRow } from '../monitor/views';

export interface Continuation {
  readonly lastNumber: string;
  readonly reason: string;
  readonly period?: string;
}

/** The numbers of gapless tags. A server with client tokens requires one of them, or an admin token. */
export class NumbersApi {
  /** @param token empty: none */
  constructor(private readonly token: string) {}

  /** @param query of the address of a page */
  list(tag: string, query: string): Promise<Outcome<Listed<NumberRow>>> {
    return request(`${pathOf(tag)}${query}`, readPage<NumberRow>, { headers: tokenHeaders(this.token) });
  }

  find(tag: string, key: string): Promise<Outcome<NumberRow>> {
    return send(this.token, 'GET', pathOf(tag, key));
  }

  confirm(tag: string, key: string): Promise<Outcome<NumberRow>> {
    return send(this.token, 'POST', `${pathOf(tag, key)}/confirm`);
  }

  void(tag: string, key: string, reason: string): Promise<Outcome<NumberRow>> {
    return send(this.token, 'POST', `${pathOf(tag, key)}/void`, { reason });
  }

  audit(tag: string, period: string): Promise<Outcome<NumberAudit>> {
    return send(this.token, 'GET', auditPath(tag, period));
  }

  file(path: string): Promise<Outcome<Blob>> {
    return request(path, (response) => response.blob(), { headers: tokenHeaders(this.token) });
  }

  continueAfter(tag: string, body: Continuation): Promise<Outcome<{ readonly skipped: number }>> {
    return send(this.token, 'POST', `api/tags/${encodeURIComponent(tag)}/continue`, body);
  }
}

/** @param period empty: the current one, or that of a tag without periods */
export function auditPath(tag: string, period: string, format = 'json'): string {
  const query = new URLSearchParams({ format, ...(period === '' ? {} : { period }) });
  return `${pathOf(tag, 'audit')}?${query.toString()}`;
}

function pathOf(...parts: readonly string[]): string {
  return ['api/numbers', ...parts.map(encodeURIComponent)].join('/');
}
