import { type IncomingMessage, request } from 'node:http';
import { until } from '../until';

export interface ServerEvent {
  readonly name: string;
  readonly data: unknown;
}

/** Reads server-sent events as a browser does, and keeps them all. */
export class EventReader {
  readonly events: ServerEvent[] = [];
  /** Lines that are no event: comments, `retry`. */
  readonly others: string[] = [];
  ended = false;
  private rest = '';

  private constructor(readonly response: IncomingMessage) {
    response.setEncoding('utf8');
    response.on('data', (text: string) => this.take(text));
    response.on('error', () => undefined);
    response.on('close', () => (this.ended = true));
  }

  /**
   * @param localAddress of the client
   * @throws Error if the response is not a stream
   */
  static open(port: number, path: string, localAddress = '127.0.0.1'): Promise<EventReader> {
    return new Promise((resolve, reject) => {
      const outgoing = request({ host: '127.0.0.1', port, path, localAddress, agent: false }, (response) => {
        if (response.statusCode === 200) {
          resolve(new EventReader(response));
        } else {
          response.resume();
          reject(new Error(`no stream, but ${response.statusCode ?? 0}`));
        }
      });
      outgoing.on('error', reject);
      outgoing.end();
    });
  }

  /** What came under this name so far. */
  all<T>(name: string): T[] {
    return this.events.filter((event) => event.name === name).map(({ data }) => data as T);
  }

  /** The first event under this name, from the `from`-th event of any name on, that `fits`. */
  next<T>(name: string, fits: (data: T) => boolean = () => true, from = 0): Promise<T> {
    return until(`event ${name}`, () => {
      const found = this.events.slice(from).find((event) => event.name === name && fits(event.data as T));
      if (found === undefined && this.ended) throw new Error(`The stream ended without an event ${name}.`);
      return found?.data as T | undefined;
    });
  }

  close(): void {
    this.response.destroy();
  }

  private take(text: string): void {
    const blocks = (this.rest + text).split('\n\n');
    this.rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = /^event: (\w+)\ndata: (.*)$/.exec(block);
      if (event === null) this.others.push(...block.split('\n'));
      else this.events.push({ name: event[1]!, data: JSON.parse(event[2]!) });
    }
  }
}
