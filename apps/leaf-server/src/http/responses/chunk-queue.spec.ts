import { FakeClock } from '@leaf-ids/core/testing';
import { ChunkQueue } from './stream-body';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('ChunkQueue', () => {
  it('writes the chunks of all bodies in order, a millisecond of them in a turn', async () => {
    const clock = new FakeClock();
    const queue = new ChunkQueue(clock);
    const written: number[] = [];
    for (let body = 0; body < 5; body++) {
      queue.add(() => {
        written.push(body);
        clock.pause(0.5);
      });
    }
    expect(written).toStrictEqual([]);
    await turn();
    expect(written).toEqual([0, 1]);
    await turn();
    await turn();
    expect(written).toEqual([0, 1, 2, 3, 4]);
    queue.add(() => void written.push(5));
    await turn();
    expect(written.at(-1)).toBe(5);
  });
});
