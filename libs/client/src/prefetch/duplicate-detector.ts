import type { IdRange } from '@leaf-ids/core';

const MAX_ANSWERS = 32;

/** Remembers the newest responses of one kind, to detect a response that repeats IDs of one of them. */
export class DuplicateDetector<T> {
  private readonly answers: T[] = [];

  constructor(private readonly overlap: (a: T, b: T) => boolean) {}

  isDuplicate(answer: T): boolean {
    return this.answers.some((known) => this.overlap(known, answer));
  }

  add(answer: T): void {
    this.answers.push(answer);
    if (this.answers.length > MAX_ANSWERS) this.answers.shift();
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
