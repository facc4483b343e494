/** A queue in which each client waits behind itself only: the next item is of the client that has the least in progress. */
export class FairQueue<T> {
  /** By client, each list oldest first; the client to be served next comes first. */
  private readonly waiting = new Map<string, T[]>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  /** The oldest item of each client. */
  get heads(): T[] {
    return [...this.waiting.values()].map(([head]) => head as T);
  }

  push(client: string, item: T): void {
    const items = this.waiting.get(client);
    if (items === undefined) this.waiting.set(client, [item]);
    else items.push(item);
    this.count++;
  }

  /** @param loadOf how much of a client is in progress */
  peek(loadOf: (client: string) => number): T | undefined {
    const client = this.next(loadOf);
    return client === undefined ? undefined : this.waiting.get(client)?.[0];
  }

  /** Removes an item of {@link heads}; of its client, the next item has its turn after those of the others. */
  remove(client: string): void {
    const items = this.waiting.get(client);
    if (items === undefined) return;
    items.shift();
    this.count--;
    this.waiting.delete(client);
    if (items.length > 0) this.waiting.set(client, items);
  }

  /**
   * Makes room for an item of `client`: removes and returns the newest item of the client that has most.
   *
   * @returns undefined if `client` itself would then have most
   */
  evictFor(client: string): T | undefined {
    const own = this.waiting.get(client)?.length ?? 0;
    let most: T[] = [];
    for (const items of this.waiting.values()) if (items.length > most.length) most = items;
    if (most.length <= own + 1) return undefined;
    this.count--;
    return most.pop();
  }

  private next(loadOf: (client: string) => number): string | undefined {
    let next: string | undefined;
    let least = Infinity;
    for (const client of this.waiting.keys()) {
      const load = loadOf(client);
      if (load >= least) continue;
      next = client;
      least = load;
    }
    return next;
  }
}
