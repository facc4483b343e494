/** Lets so many through at once; the others wait in line. */
export class Semaphore {
  private readonly line: (() => void)[] = [];

  constructor(private free: number) {}

  async enter(): Promise<void> {
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.line.push(resolve));
  }

  leave(): void {
    const next = this.line.shift();
    if (next === undefined) this.free++;
    else next();
  }
}
