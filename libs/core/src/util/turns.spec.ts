import { setImmediate as nextTurn } from 'node:timers/promises';
import { Turns } from './turns';

describe('Turns', () => {
  it('run one action of a key at a time, in order, also after one has failed', async () => {
    const turns = new Turns();
    const events: string[] = [];
    const act = (name: string, error?: Error) => async (): Promise<string> => {
      events.push(`${name} begins`);
      await nextTurn();
      events.push(`${name} ends`);
      if (error !== undefined) throw error;
      return name;
    };
    const failed = turns.run('a', act('one', new Error('no')));
    const others = [turns.run('a', act('two')), turns.run('b', act('other')), turns.run('a', act('three'))];
    await expect(failed).rejects.toThrow('no');
    expect(await Promise.all(others)).toEqual(['two', 'other', 'three']);
    const ofOne = events.filter((event) => !event.startsWith('other'));
    expect(ofOne).toEqual(['one', 'two', 'three'].flatMap((name) => [`${name} begins`, `${name} ends`]));
    expect(events.indexOf('other begins')).toBeLessThan(events.indexOf('one ends'));
  });

  it('keep nothing of a key whose actions have ended', async () => {
    const turns = new Turns();
    const acts = ['a', 'b', 'a'].map((key) => turns.run(key, () => Promise.resolve()));
    expect(turns.size).toBe(2);
    await Promise.all([...acts, turns.run('c', () => Promise.reject(new Error())).catch(() => undefined)]);
    expect(turns.size).toBe(0);
  });
});
