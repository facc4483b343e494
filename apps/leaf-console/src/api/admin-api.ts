import type { CommandAnswer, CommandBody, TagRow } from '../monitor/views';
import { type Outcome, request, send } from './problem';

export type { TagRow } from '../monitor/views';

export interface Interleave {
  readonly of: number;
  readonly remainder: number;
  readonly block: number;
}

/** How often a tag restarts. */
export type PlainReset = 'daily' | 'weekly' | 'monthly' | 'quarterly' | 'yearly';
export type Reset = PlainReset | `fiscal:${string}`;

export function isPlain(reset: Reset): reset is PlainReset {
  return !reset.startsWith('fiscal:');
}

/** Optional settings that cannot change after the tag is created. */
export interface TagKind {
  readonly order?: 'relaxed' | 'strict' | 'gapless';
  readonly reset?: Reset;
  readonly zone?: string;
  readonly interleave?: Interleave;
  /** Only for gapless tags. */
  readonly pattern?: string;
  readonly reissue?: boolean;
}

export interface NewTag extends TagKind {
  readonly tag: string;
  readonly step?: number;
  readonly maxStep?: number;
  readonly max?: string;
  readonly maxId?: string;
  readonly description?: string;
}

export interface TagChange {
  readonly step?: number;
  /** Null removes the setting. */
  readonly maxStep?: number | null;
  readonly max?: string | null;
  readonly maxId?: string;
  readonly description?: string;
}

/** A part of a list. */
export interface Listed<Row> {
  readonly rows: readonly Row[];
  /** The query of the next page; undefined on the last. */
  readonly next: string | undefined;
}

export type ListedTags = Listed<TagRow>;

/** The admin routes. Reads require no token. */
export class AdminApi {
  constructor(private readonly token: () => string) {}

  /** @param query of the address of a page, as the page before names it; empty for the first */
  list(query = ''): Promise<Outcome<ListedTags>> {
    return request(`api/tags${query}`, readPage<TagRow>);
  }

  create(tag: NewTag): Promise<Outcome<TagRow>> {
    return this.send('POST', 'api/tags', tag);
  }

  change(tag: string, change: TagChange): Promise<Outcome<TagRow>> {
    return this.send('PATCH', pathOf(tag), change);
  }

  async remove(tag: string): Promise<Outcome<unknown>> {
    return this.send('DELETE', pathOf(tag));
  }

  setPaused(tag: string, paused: boolean): Promise<Outcome<unknown>> {
    return this.send('POST', `${pathOf(tag)}/${paused ? 'pause' : 'resume'}`);
  }

  setDraining(draining: boolean): Promise<Outcome<unknown>> {
    return this.send(draining ? 'POST' : 'DELETE', 'api/server/drain');
  }

  /** Runs a command on several servers. Succeeds even if some of them fail. */
  command(command: CommandBody): Promise<Outcome<CommandAnswer>> {
    return this.send('POST', 'api/cluster/orders', command);
  }

  private send<T>(method: string, path: string, body?: unknown): Promise<Outcome<T>> {
    return send(this.token(), method, path, body);
  }
}

export async function readPage<Row>(response: Response): Promise<Listed<Row>> {
  return { rows: (await response.json()) as Row[], next: nextOf(response.headers.get('link')) };
}

function nextOf(link: string | null): string | undefined {
  return /^<(\?[^>]*)>; rel="next"$/.exec(link ?? '')?.[1];
}

function pathOf(tag: string): string {
  return `api/tags/${encodeURIComponent(tag)}`;
}
