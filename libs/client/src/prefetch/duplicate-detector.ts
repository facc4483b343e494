import type { IdRange } from '@leaf-ids/core';

const KEPT = 32;

/** The newest answers of one kind: an answer that repeats IDs of one of them was not made for this client. */
export class DuplicateDetector<T> {
  private readonly answers: T[] = [];

  constructor(private readonly overlap: (a: T, b: T) => boolean) {}

  isDuplicate(answer: T): boolean {
    return this.answers.some((known) => this.overlap(known, answer));
  }

  add(answer: T): void {
    this.answers.push(answer);
    if (this.answers.length > KEPT) this.answers.shift();
  }
}

/** Whether two lists of ascending ranges have an ID in common. */
export function rangesOverlap(a: readonly IdRange[], b: readonly IdRange[]): boolean {
  let index = 0;
  return a.some(({ from, to }) => {
    while (index < b.length && (b[index] as IdRange).to < from) index++;
    const next = b[index];
    return next !== undefined && next.from <= to;
  });
}
