import { STATUS_CODES } from 'node:http';
import type { Clock } from '@leaf-ids/core';
import { headersOf, type IdCall } from '../fast-path';

/** The value of the header `Keep-Alive`, as Node.js writes it. */
export function keepAliveOf(ms: number): string {
  return `timeout=${Math.floor(ms / 1000)}`;
}

/** Writes status line and headers of responses with IDs. What all of a second have in common is made once. */
export class ResponseHeads {
  private readonly keepAlive: string;
  private tail = '';
  /** Monotonic time at which `tail` is to be made again. */
  private madeUntil = -Infinity;

  constructor(
    private readonly clock: Clock,
    keepAliveMs: number,
  ) {
    this.keepAlive = `Connection: keep-alive\r\nKeep-Alive: ${keepAliveOf(keepAliveMs)}`;
  }

  /** What all responses to a call begin with. */
  prefix(call: IdCall, isJson: boolean): string {
    const headers = headersOf(call, isJson);
    let text = `HTTP/1.1 200 ${STATUS_CODES[200] ?? ''}\r\n`;
    for (let at = 0; at < headers.length; at += 2) text += `${headers[at] ?? ''}: ${headers[at + 1] ?? ''}\r\n`;
    return `${text}content-length: `;
  }

  /**
   * What follows {@link prefix}, up to the body.
   *
   * @param length of the body
   * @param at monotonic time of the request
   */
  suffix(length: number, at: number): string {
    if (at >= this.madeUntil) this.makeTail(at);
    return String(length) + this.tail;
  }

  private makeTail(at: number): void {
    const now = this.clock.now();
    this.madeUntil = at + 1000 - (now % 1000);
    this.tail = `\r\nDate: ${new Date(now).toUTCString()}\r\n${this.keepAlive}\r\n\r\n`;
  }
}
