import { isCount, parseArray } from '@leaf-ids/core/internal';
import type { ZookeeperNode } from './zookeeper-node';

/** The values that a write compares. */
export type Token = Pick<ZookeeperNode, 'session' | 'created' | 'version' | 'data'>;

/** The token of a missing node. */
export const NO_TOKEN: Token = { session: 0, created: 0, version: 0, data: '' };

export function formatToken({ session, created, version, data }: Token): string {
  return JSON.stringify([session, created, version, data]);
}

/** Parses a token; returns {@link NO_TOKEN}, which no node has, for any other text. */
export function parseToken(text: string): Token {
  const [session, created, version, data] = parseArray(text);
  if (!isCount(session) || !isCount(created) || !isCount(version) || typeof data !== 'string') return NO_TOKEN;
  return { session, created, version, data };
}
