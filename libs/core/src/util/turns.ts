/** Actions that run one after the other for each key, and at the same time for different keys. */
export class Turns {
  private readonly latest = new Map<string, Promise<unknown>>();

  /** Number of keys with an action that has not ended. */
  get size(): number {
    return this.latest.size;
  }

  /** Runs `act` when the earlier actions of `key` have ended, whether or not they failed. */
  async run<T>(key: string, act: () => Promise<T>): Promise<T> {
    const turn = (this.latest.get(key) ?? Promise.resolve()).then(act, act);
    this.latest.set(key, turn);
    try {
      return await turn;
    } finally {
      if (this.latest.get(key) === turn) this.latest.delete(key);
    }
  }
}
