/** What clients have sent to a registry and received from it. */
export class RegistryTraffic {
  reads = 0;
  writes = 0;
  /** Of names and data, without the overhead of the protocol. */
  bytes = 0;

  reset(): void {
    this.reads = this.writes = this.bytes = 0;
  }

  read<T>(answer: T, ...content: readonly string[]): Promise<T> {
    this.reads++;
    return this.pass(answer, content);
  }

  write<T>(answer: T, ...content: readonly string[]): Promise<T> {
    this.writes++;
    return this.pass(answer, content);
  }

  private pass<T>(answer: T, content: readonly string[]): Promise<T> {
    for (const text of content) this.bytes += Buffer.byteLength(text);
    return Promise.resolve(answer);
  }
}
