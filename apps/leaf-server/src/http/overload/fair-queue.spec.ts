import { FairQueue } from './fair-queue';

const idle = (): number => 0;

function drain(queue: FairQueue<string>, loadOf: (client: string) => number = idle): string[] {
  const order: string[] = [];
  for (let item = queue.peek(loadOf); item !== undefined; item = queue.peek(loadOf)) {
    order.push(item);
    queue.remove(item[0]!);
  }
  return order;
}

describe('FairQueue', () => {
  let queue: FairQueue<string>;
  beforeEach(() => {
    queue = new FairQueue();
    for (const item of ['a1', 'a2', 'a3', 'b1', 'a4', 'c1', 'b2']) queue.push(item[0]!, item);
  });

  it('serves one item of each client after the other', () => {
    expect([queue.size, queue.heads]).toEqual([7, ['a1', 'b1', 'c1']]);
    expect(drain(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
    expect([queue.size, queue.heads]).toEqual([0, []]);
  });

  it('serves the client with the least in progress first', () => {
    const load: Record<string, number> = { a: 2, b: 1, c: 1 };
    expect(drain(queue, (client) => load[client]!)).toEqual(['b1', 'c1', 'b2', 'a1', 'a2', 'a3', 'a4']);
  });

  it('makes room at the cost of the client that has most, and never for that one', () => {
    expect(queue.evictFor('a')).toBeUndefined();
    expect(queue.evictFor('d')).toBe('a4');
    expect(queue.evictFor('b')).toBeUndefined();
    expect(queue.evictFor('d')).toBe('a3');
    expect(queue.evictFor('d')).toBe('a2');
    expect(queue.evictFor('d')).toBe('b2');
    expect(queue.evictFor('d')).toBeUndefined();
    expect([queue.size, drain(queue)]).toEqual([3, ['a1', 'b1', 'c1']]);
  });
});
