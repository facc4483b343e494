const STATUS_LINE = Buffer.from('HTTP/1.1 ');
const STATUS_LENGTH = STATUS_LINE.length + 3;

/** Finds the statuses of responses in the bytes of one connection, which it does not keep. */
export interface ReplyReader {
  /** The statuses in the next bytes. */
  read(part: Buffer): string[];
}

export class HttpReader implements ReplyReader {
  private rest: Buffer = Buffer.alloc(0);

  read(part: Buffer): string[] {
    const bytes = Buffer.concat([this.rest, part]);
    const statuses: string[] = [];
    let next = bytes.indexOf(STATUS_LINE);
    let end = 0;
    while (next >= 0 && next + STATUS_LENGTH <= bytes.length) {
      end = next + STATUS_LENGTH;
      const status = bytes.toString('latin1', end - 3, end);
      // The text of a problem may name the protocol, too.
      if (/^\d{3}$/.test(status)) statuses.push(status);
      next = bytes.indexOf(STATUS_LINE, end);
    }
    // A status line may be split between two parts.
    this.rest = bytes.subarray(Math.max(end, bytes.length - STATUS_LENGTH + 1));
    return statuses;
  }
}

/** Of the Redis protocol: replies of one line each, by the code of the error, or `200`. */
export class RespReader implements ReplyReader {
  private rest = '';

  read(part: Buffer): string[] {
    const lines = (this.rest + part.toString('latin1')).split('\r\n');
    this.rest = lines.pop() ?? '';
    return lines.map((line) => (line.startsWith('-') ? line.slice(1, line.indexOf(' ')) : '200'));
  }
}
