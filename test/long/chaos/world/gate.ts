/** Lets any number of acts pass at once, or none. */
export class Gate {
  private readonly underWay = new Set<Promise<unknown>>();
  private opened: Promise<void> = Promise.resolve();
  private release: (() => void) | undefined;

  /** Runs `act`, once the gate is open. */
  async pass<T>(act: () => Promise<T>): Promise<T> {
    while (this.release !== undefined) await this.opened;
    const run = act();
    this.underWay.add(run);
    try {
      return await run;
    } finally {
      this.underWay.delete(run);
    }
  }

  /** Lets nobody pass from now on; resolves when those that had passed are done. */
  async close(): Promise<void> {
    this.opened = new Promise((resolve) => (this.release = resolve));
    await Promise.allSettled(this.underWay);
  }

  open(): void {
    this.release?.();
    this.release = undefined;
  }
}
