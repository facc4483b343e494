import { FakeClock } from './clock/fake-clock';
import { Releasers } from './releasers';

describe('Releasers', () => {
  let clock: FakeClock;
  let released: string[];
  let problems: string[];
  let releasers: Releasers;

  beforeEach(() => {
    clock = new FakeClock();
    released = [];
    problems = [];
    releasers = new Releasers(clock, (step) => problems.push(step));
  });

  function add(step: string, release: () => Promise<void> = () => Promise.resolve()): void {
    releasers.add(step, 100, async () => {
      await release();
      released.push(step);
    });
  }

  it('releases the last first', async () => {
    add('pool');
    add('lease');
    add('tasks');
    await releasers.releaseAll();
    expect([released, problems]).toEqual([['tasks', 'lease', 'pool'], []]);
  });

  it('ends a step before the next begins', async () => {
    add('pool');
    add('lease', () => clock.sleep(50));
    const done = releasers.releaseAll();
    await clock.advance(49);
    expect(released).toEqual([]);
    await clock.advance(1);
    await done;
    expect(released).toEqual(['lease', 'pool']);
  });

  it('reports a failing step and goes on', async () => {
    add('pool');
    add('lease', () => Promise.reject(new Error('no answer')));
    releasers.add('tasks', 100, () => {
      throw new Error('at once');
    });
    await expect(releasers.releaseAll()).resolves.toBeUndefined();
    expect([released, problems]).toEqual([['pool'], ['tasks', 'lease']]);
  });

  it('reports a late step and goes on', async () => {
    add('pool');
    add('lease', () => clock.sleep(1000));
    const done = releasers.releaseAll();
    await clock.advance(99);
    expect([released, problems]).toEqual([[], []]);
    await clock.advance(1);
    await done;
    expect([released, problems]).toEqual([['pool'], ['lease']]);
  });

  it('gives every step a time limit of its own', async () => {
    add('pool', () => clock.sleep(80));
    add('lease', () => clock.sleep(80));
    const done = releasers.releaseAll();
    await clock.advance(160);
    await done;
    expect([released, problems]).toEqual([['lease', 'pool'], []]);
  });

  it('releases once, later calls join the first', async () => {
    add('lease', () => clock.sleep(50));
    const first = releasers.releaseAll();
    const second = releasers.releaseAll();
    await clock.advance(50);
    await Promise.all([first, second]);
    await releasers.releaseAll();
    expect(released).toEqual(['lease']);
  });
});
