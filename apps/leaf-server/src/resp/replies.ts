import type { LeafError } from '@leaf-ids/core';
import { RETRY_AFTER_S } from '@leaf-ids/core/internal';

/** The version of the protocol, which a connection chooses with `HELLO`. */
export type ProtocolVersion = 2 | 3;

export const OK = simple('OK');

/** @param text without a line break */
export function simple(text: string): string {
  return `+${text}\r\n`;
}

export function integer(value: number | bigint): string {
  return `:${value}\r\n`;
}

/** @param text latin1: one character for each byte */
export function bulk(text: string): string {
  return `$${text.length}\r\n${text}\r\n`;
}

/** @param replies written already */
export function array(replies: readonly string[]): string {
  return `*${replies.length}\r\n${replies.join('')}`;
}

/** @param entries names, and replies that are written already */
export function map(version: ProtocolVersion, entries: readonly (readonly [string, string])[]): string {
  const head = version === 3 ? `%${entries.length}` : `*${entries.length * 2}`;
  return `${head}\r\n${entries.map(([name, reply]) => bulk(name) + reply).join('')}`;
}

export function nothing(version: ProtocolVersion): string {
  return version === 3 ? '_\r\n' : '$-1\r\n';
}

/** @param text in any characters; line breaks become blanks */
export function error(code: string, text: string): string {
  return `-${code} ${Buffer.from(text.replaceAll(/[\r\n]+/g, ' ')).toString('latin1')}\r\n`;
}

/** An error reply, with the time to retry if a retry may succeed. */
export function refusal({ code, message, status, retryAfterMs = RETRY_AFTER_S * 1000 }: LeafError): string {
  const isTemporary = status === 503 || status === 429;
  return error(code, isTemporary ? `${message} (retry after ${Math.ceil(retryAfterMs)} ms)` : message);
}
