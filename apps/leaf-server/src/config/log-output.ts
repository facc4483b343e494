/** A stream that accepts no data keeps at most this much of the log in memory, in bytes. */
const MAX_BUFFERED = 1_048_576;

/** Writes log lines to a stream. A line that cannot be written is dropped and counted: logging never ends the server. */
export class LogOutput {
  /** Lines that could not be written: the reader has gone, or the disk is full. */
  dropped = 0;

  constructor(private readonly stream: NodeJS.WriteStream) {
    // Without a listener, the first failed write would end the process. One is enough for all outputs of the stream.
    if (stream.listenerCount('error') === 0) stream.on('error', () => undefined);
  }

  write(lines: string): void {
    if (this.stream.writableLength > MAX_BUFFERED) {
      this.dropped++;
      return;
    }
    this.stream.write(lines, (error) => {
      if (error) this.dropped++;
    });
  }
}
