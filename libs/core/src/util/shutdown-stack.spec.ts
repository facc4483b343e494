import { FakeClock } from '../clock/fake-clock';
import { ShutdownStack } from './shutdown-stack';

describe('ShutdownStack', () => {
  let clock: FakeClock;
  let closed: string[];
  let problems: string[];
  let stack: ShutdownStack;

  beforeEach(() => {
    clock = new FakeClock();
    closed = [];
    problems = [];
    stack = new ShutdownStack(clock, (step) => problems.push(step));
  });

  function add(step: string, close: () => Promise<void> = () => Promise.resolve()): void {
    stack.add(step, 100, async () => {
      await close();
      closed.push(step);
    });
  }

  it('closes the last first', async () => {
    add('pool');
    add('lease');
    add('tasks');
    await stack.close();
    expect([closed, problems]).toEqual([['tasks', 'lease', 'pool'], []]);
  });

  it('ends a step before the next begins', async () => {
    add('pool');
    add('lease', () => clock.sleep(50));
    const done = stack.close();
    await clock.advance(49);
    expect(closed).toStrictEqual([]);
    await clock.advance(1);
    await done;
    expect(closed).toEqual(['lease', 'pool']);
  });

  it('reports a failing step and goes on', async () => {
    add('pool');
    add('lease', () => Promise.reject(new Error('no answer')));
    stack.add('tasks', 100, () => {
      throw new Error('at once');
    });
    await expect(stack.close()).resolves.toBeUndefined();
    expect([closed, problems]).toEqual([['pool'], ['tasks', 'lease']]);
  });

  it('reports a late step and goes on', async () => {
    add('pool');
    add('lease', () => clock.sleep(1000));
    const done = stack.close();
    await clock.advance(99);
    expect([closed, problems]).toEqual([[], []]);
    await clock.advance(1);
    await done;
    expect([closed, problems]).toEqual([['pool'], ['lease']]);
  });

  it('gives every step a time limit of its own', async () => {
    add('pool', () => clock.sleep(80));
    add('lease', () => clock.sleep(80));
    const done = stack.close();
    await clock.advance(160);
    await done;
    expect([closed, problems]).toEqual([['lease', 'pool'], []]);
  });

  it('closes once, later calls join the first', async () => {
    add('lease', () => clock.sleep(50));
    const first = stack.close();
    const second = stack.close();
    await clock.advance(50);
    await Promise.all([first, second]);
    await stack.close();
    expect(closed).toEqual(['lease']);
  });
});
