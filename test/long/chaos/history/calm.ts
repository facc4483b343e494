/** Longest time without IDs while no fault lasts, in milliseconds; many times what a call takes on a busy machine. */
export const CALM_LIMIT_MS = 5000;

interface Caller {
  readonly name: string;
  /** When it asked for the IDs that came last, in milliseconds since the run began. */
  readonly lastAnswerAt: number;
}

/** The callers that went without IDs for too long while no fault lasted. */
export class Calm {
  private readonly longest = new Map<string, number>();

  /** @param now milliseconds since the run began */
  look(now: number, callers: readonly Caller[]): void {
    for (const { name, lastAnswerAt } of callers) {
      const waited = now - lastAnswerAt;
      if (waited > Math.max(CALM_LIMIT_MS, this.longest.get(name) ?? 0)) this.longest.set(name, waited);
    }
  }

  /** One line for each caller. */
  get late(): string[] {
    return Array.from(this.longest, ([name, waited]) => `${name} got no ID for ${(waited / 1000).toFixed(1)} s`);
  }
}
