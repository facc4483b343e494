const KEPT = 32;

/** The newest answers of one kind: whoever repeats one of them, a cache in between say, is found out. */
export class Recent<T> {
  private readonly items: T[] = [];

  constructor(private readonly clash: (a: T, b: T) => boolean) {}

  has(item: T): boolean {
    return this.items.some((known) => this.clash(known, item));
  }

  add(item: T): void {
    this.items.push(item);
    if (this.items.length > KEPT) this.items.shift();
  }
}
